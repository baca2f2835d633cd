import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;
import java.util.Arrays;
import java.util.stream.IntStream;
import scala.collection.concurrent.TrieMap;

/**
 * Tapes of reads and writes on Scala's TrieMap; one line of output a file: cpu and wall nanoseconds per operation,
 * overlap. The values that the keys have in the end are written beside the file.
 *
 * Arguments: rounds, then files of longs: number of keys, threads, operations of a thread; the keys; for each thread
 * the keys and the values of its operations, where 0 stands for a read. All are boxed beforehand.
 */
public final class TrieMapMixes {
    private static final double MET = 0.9;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** One thread's tape and what it took. */
    private static final class Share extends Thread {
        final TrieMap<Long, Long> map;
        final Long[] keys;
        final Long[] values;
        final CyclicBarrier barrier;
        long cpu;
        long start;
        long end;
        long missed;

        Share(TrieMap<Long, Long> map, Long[] keys, Long[] values, CyclicBarrier barrier) {
            this.map = map;
            this.keys = keys;
            this.values = values;
            this.barrier = barrier;
        }

        @Override
        public void run() {
            try {
                barrier.await();
            } catch (Exception broken) {
                throw new IllegalStateException(broken);
            }
            start = System.nanoTime();
            long c = THREADS.getCurrentThreadCpuTime();
            for (int k = 0; k < keys.length; k++) {
                if (values[k] != null) map.put(keys[k], values[k]);
                else if (map.get(keys[k]).isEmpty()) missed++;
            }
            cpu = THREADS.getCurrentThreadCpuTime() - c;
            end = System.nanoTime();
        }
    }

    private static Long[] boxed(LongBuffer from, int count, boolean nulls) {
        Long[] found = new Long[count];
        for (int k = 0; k < count; k++) {
            long one = from.get();
            found[k] = nulls && one == 0 ? null : (Long) one;
        }
        return found;
    }

    /** As in TrieMapBench. */
    private static double usual(double[] figures, double[] overlap) {
        int[] later = IntStream.range(figures.length / 4, figures.length).toArray();
        int[] met = Arrays.stream(later).filter(round -> overlap[round] >= MET).toArray();
        double[] sorted = Arrays.stream(met.length > 0 ? met : later).mapToDouble(round -> figures[round]).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static void measure(Path file, int rounds) throws IOException, InterruptedException {
        LongBuffer from = ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer();
        int count = (int) from.get();
        int threads = (int) from.get();
        int operations = (int) from.get();
        Long[] all = boxed(from, count, false);
        Long[][] tapes = new Long[2 * threads][];
        for (int t = 0; t < 2 * threads; t++) tapes[t] = boxed(from, operations, t % 2 == 1);
        TrieMap<Long, Long> map = new TrieMap<>();
        for (Long key : all) map.put(key, 0L);
        double[] cpu = new double[rounds];
        double[] wall = new double[rounds];
        double[] overlap = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            CyclicBarrier barrier = new CyclicBarrier(threads);
            Share[] shares = new Share[threads];
            for (int t = 0; t < threads; t++) shares[t] = new Share(map, tapes[2 * t], tapes[2 * t + 1], barrier);
            for (Share share : shares) share.start();
            for (Share share : shares) share.join();
            long firstEnd = Long.MAX_VALUE, lastEnd = Long.MIN_VALUE;
            long firstStart = Long.MAX_VALUE, lastStart = Long.MIN_VALUE;
            double c = 0, w = 0;
            for (Share share : shares) {
                if (share.missed != 0) throw new IllegalStateException("a key that is there was not found");
                firstEnd = Math.min(firstEnd, share.end);
                lastEnd = Math.max(lastEnd, share.end);
                firstStart = Math.min(firstStart, share.start);
                lastStart = Math.max(lastStart, share.start);
                c += share.cpu;
                w += share.end - share.start;
            }
            overlap[round] = Math.max(0, (firstEnd - lastStart) / (double) (lastEnd - firstStart));
            double each = (double) threads * operations;
            cpu[round] = c / each;
            wall[round] = w / each;
        }
        double[] sorted = overlap.clone();
        Arrays.sort(sorted);
        ByteBuffer out = ByteBuffer.allocate(8 * count);
        for (Long key : all) out.putLong(map.apply(key));
        Files.write(Path.of(file + ".out"), out.array());
        double c = threads == 1 ? Arrays.stream(cpu).min().orElseThrow() : usual(cpu, overlap);
        double w = threads == 1 ? Arrays.stream(wall).min().orElseThrow() : usual(wall, overlap);
        System.out.printf("%.2f\t%.2f\t%.3f%n", c, w, sorted[rounds / 2]);
    }

    public static void main(String[] arguments) throws Exception {
        for (int a = 1; a < arguments.length; a++) measure(Path.of(arguments[a]), Integer.parseInt(arguments[0]));
    }
}
