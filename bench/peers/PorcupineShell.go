// Porcupine judges log files from a shell, as a user of it would: each file is read, parsed by regular expressions as
// in Porcupine's own test suite, and judged; files run side by side, one goroutine each.
//
// Usage: PorcupineShell etcd|kv FILE... Prints "file: verdict" for each file.
// An operation that never returned may return anything after everything else. Keys of a store are judged apart.
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"

	"github.com/anishathalye/porcupine"
)

const unseen = -1 << 62

type cell struct {
	f    string
	a, b int
}

type seen struct {
	ok    bool // whether a cas succeeded
	value int  // what a read returned
	lost  bool // nobody saw what was returned
}

var register = porcupine.Model{
	Init: func() interface{} { return unseen },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		now, in, out := state.(int), input.(cell), output.(seen)
		switch in.f {
		case "read":
			return out.lost || out.value == now, now
		case "write":
			return true, in.a
		}
		if now == in.a {
			return out.lost || out.ok, in.b
		}
		return out.lost || !out.ok, now
	},
}

type call struct{ f, key, value string }

type got struct {
	value string
	lost  bool
}

var store = porcupine.Model{
	PartitionEvent: func(history []porcupine.Event) [][]porcupine.Event {
		parts, keys := map[string][]porcupine.Event{}, map[int]string{}
		for _, event := range history {
			if event.Kind == porcupine.CallEvent {
				keys[event.Id] = event.Value.(call).key
			}
			parts[keys[event.Id]] = append(parts[keys[event.Id]], event)
		}
		found := make([][]porcupine.Event, 0, len(parts))
		for _, part := range parts {
			found = append(found, part)
		}
		return found
	},
	Init: func() interface{} { return "" },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		now, in, out := state.(string), input.(call), output.(got)
		switch in.f {
		case "put":
			return true, in.value
		case "append":
			return true, now + in.value
		}
		return out.lost || out.value == now, now
	},
}

var etcdLine = regexp.MustCompile(`^INFO\s+jepsen\.util\s+-\s+(\d+)\s+:(invoke|ok|fail|info)\s+:(read|write|cas)\s+(?:(nil|:timed-out)|\[(\d+)\s+(\d+)\]|(\d+))$`)
var kvLine = regexp.MustCompile(`^\{:process (\d+), :type :(invoke|ok|fail|info), :f :(get|put|append), :key "(.*)", :value (?:nil|"(.*)")\}$`)

// open are the calls that have not returned, by process.
type log struct {
	events []porcupine.Event
	open   map[string]int
	ids    int
}

func (l *log) call(process string, value interface{}) {
	l.open[process] = l.ids
	l.events = append(l.events, porcupine.Event{Kind: porcupine.CallEvent, Value: value, Id: l.ids})
	l.ids++
}

func (l *log) done(process string, value interface{}) {
	l.events = append(l.events, porcupine.Event{Kind: porcupine.ReturnEvent, Value: value, Id: l.open[process]})
	delete(l.open, process)
}

func (l *log) lost(value interface{}) []porcupine.Event {
	for _, id := range l.open {
		l.events = append(l.events, porcupine.Event{Kind: porcupine.ReturnEvent, Value: value, Id: id})
	}
	return l.events
}

// without leaves out the calls that did not happen.
func without(events []porcupine.Event, failed map[int]bool) []porcupine.Event {
	kept := events[:0]
	for _, event := range events {
		if !failed[event.Id] {
			kept = append(kept, event)
		}
	}
	return kept
}

func number(text string) int {
	value, _ := strconv.Atoi(text)
	return value
}

func lines(name string, each func(line string)) {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<30)
	for scanner.Scan() {
		each(scanner.Text())
	}
}

func etcd(name string) []porcupine.Event {
	l := log{open: map[string]int{}}
	failed, gone := map[int]bool{}, 0
	lines(name, func(line string) {
		found := etcdLine.FindStringSubmatch(line)
		if found == nil {
			panic(line)
		}
		process, kind, f := found[1], found[2], found[3]
		switch {
		case kind == "invoke":
			in := cell{f: f}
			if f == "cas" {
				in.a, in.b = number(found[5]), number(found[6])
			} else if f == "write" {
				in.a = number(found[7])
			}
			l.call(process, in)
		case kind == "info": // for ever
			gone++
			l.open["gone "+strconv.Itoa(gone)] = l.open[process]
			delete(l.open, process)
		case kind == "ok" && f == "read" && found[4] == "nil":
			l.done(process, seen{value: unseen})
		case kind == "ok" && f == "read":
			l.done(process, seen{value: number(found[7])})
		case kind == "ok":
			l.done(process, seen{ok: true})
		case f == "cas" && found[4] == "":
			l.done(process, seen{ok: false})
		default:
			failed[l.open[process]] = true
			delete(l.open, process)
		}
	})
	return without(l.lost(seen{lost: true}), failed)
}

func kv(name string) []porcupine.Event {
	l := log{open: map[string]int{}}
	lines(name, func(line string) {
		found := kvLine.FindStringSubmatch(line)
		if found == nil {
			panic(line)
		}
		process, kind, f := found[1], found[2], found[3]
		if kind == "invoke" {
			l.call(process, call{f, found[4], found[5]})
		} else if kind == "ok" {
			l.done(process, got{value: found[5]})
		}
	})
	return l.lost(got{lost: true})
}

func main() {
	read, model := etcd, register
	if os.Args[1] == "kv" {
		read, model = kv, store
	}
	files := os.Args[2:]
	verdicts := make([]porcupine.CheckResult, len(files))
	var group sync.WaitGroup
	for i := range files {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			verdicts[i] = porcupine.CheckEventsTimeout(model, read(files[i]), 0)
		}(i)
	}
	group.Wait()
	for i, name := range files {
		fmt.Printf("%s: %s\n", name, verdicts[i])
	}
}
