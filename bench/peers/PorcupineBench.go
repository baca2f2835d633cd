// Porcupine judges the histories of a file of JSON lines, as `latchfree check` reads them.
//
// Usage: PorcupineBench FILE MODEL SECONDS. Prints "verdict seconds" for each history, and the most megabytes it took.
// Reading is not timed; judging is, from operations to verdict. States are the JSON texts of values, keys are judged
// apart, and an operation that never returned may return anything at the end of time.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const absent = "null"

type record struct {
	History   string
	F         string
	Arguments []json.RawMessage
	Result    json.RawMessage
	Invoke    int64
	Return    *int64
}

type call struct {
	f, key, a, b string
}

// The old value, the new value, and whether the result fits.
var objects = map[string]func(state string, c call, result string) (bool, string){
	"cas-register": func(state string, c call, result string) (bool, string) {
		switch c.f {
		case "read":
			return result == "" || result == state, state
		case "write":
			return true, c.a
		}
		if state == c.a {
			return result != "false", c.b
		}
		return result != "true", state
	},
	"map": func(state string, c call, result string) (bool, string) {
		fits := result == "" || result == state
		switch c.f {
		case "put":
			return fits, c.a
		case "remove":
			return fits, absent
		}
		return fits, state
	},
	"append-kv": func(state string, c call, result string) (bool, string) {
		switch c.f {
		case "put":
			return true, c.a
		case "append":
			return true, state + c.a
		}
		return result == "" || text(result) == state, state
	},
}

func text(value string) string {
	if strings.HasPrefix(value, `"`) {
		value, _ = strconv.Unquote(value)
	}
	return value
}

func model(name string) porcupine.Model {
	step, initial := objects[name], absent
	if name == "append-kv" {
		initial = ""
	}
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[string][]porcupine.Operation{}
			for _, operation := range history {
				key := operation.Input.(call).key
				parts[key] = append(parts[key], operation)
			}
			found := make([][]porcupine.Operation, 0, len(parts))
			for _, part := range parts {
				found = append(found, part)
			}
			return found
		},
		Init: func() interface{} { return initial },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			return step(state.(string), input.(call), output.(string))
		},
	}
}

func operation(r record, client int, keyed bool, decode func(string) string) porcupine.Operation {
	var words [3]string
	for i, argument := range r.Arguments {
		words[i] = decode(string(argument))
	}
	c := call{r.F, "", words[0], words[1]}
	if keyed {
		c = call{r.F, words[0], words[1], words[2]}
	}
	end := int64(math.MaxInt64)
	if r.Return != nil {
		end = *r.Return
	}
	return porcupine.Operation{ClientId: client, Input: c, Call: r.Invoke, Output: string(r.Result), Return: end}
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	keyed, decode := os.Args[2] != "cas-register", func(value string) string { return value }
	if os.Args[2] == "append-kv" {
		decode = text
	}
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	var histories [][]porcupine.Operation
	last := ""
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		if len(histories) == 0 || r.History != last {
			histories, last = append(histories, nil), r.History
		}
		mine := &histories[len(histories)-1]
		*mine = append(*mine, operation(r, len(*mine), keyed, decode))
	}
	for _, history := range histories {
		begun := time.Now()
		verdict := porcupine.CheckOperationsTimeout(model(os.Args[2]), history, time.Duration(seconds*1e9))
		fmt.Println(verdict, time.Since(begun).Seconds())
	}
	status, _ := os.ReadFile("/proc/self/status")
	peak := strings.Fields(strings.Split(string(status), "VmHWM:")[1])[0]
	kilobytes, _ := strconv.Atoi(peak)
	fmt.Println("peak", kilobytes/1024)
}
