import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import scala.collection.Iterator;
import scala.collection.concurrent.TrieMap;

/**
 * The workload of workload.py on Scala's TrieMap, one line of output a row:
 * keys, threads, operation, cpu and wall nanoseconds per operation, overlap.
 *
 * Arguments: seed, snapshots, passes, then keys:threads:rounds:cycles for every part. Keys and values are boxed
 * beforehand.
 */
public final class TrieMapBench {
    private static final String[] OPERATIONS = {"put", "get", "update", "remove"};
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final double MET = 0.9;
    private static volatile long sink;

    private interface Step {
        void run() throws Exception;
    }

    /** One thread's share of the keys and what its steps took in all. */
    private static final class Share extends Thread {
        final TrieMap<Long, Long> map;
        final Long[] keys;
        final Long[] first;
        final Long[] second;
        final int cycles;
        final CyclicBarrier barrier;
        final long[] cpu = new long[OPERATIONS.length];
        final long[] wall = new long[OPERATIONS.length];
        long start;
        long end;

        Share(TrieMap<Long, Long> map, Long[] all, int own, int threads, int cycles, CyclicBarrier barrier) {
            this.map = map;
            this.cycles = cycles;
            this.barrier = barrier;
            int n = all.length / threads;
            keys = new Long[n];
            first = new Long[n];
            second = new Long[n];
            for (int k = 0; k < n; k++) {
                keys[k] = all[k * threads + own];
                first[k] = keys[k] ^ 1;
                second[k] = keys[k] ^ 2;
            }
        }

        private void step(int operation) {
            long found = 0;
            switch (operation) {
                case 0: for (int k = 0; k < keys.length; k++) map.put(keys[k], first[k]); break;
                case 1: for (Long key : keys) if (map.get(key).isDefined()) found++; break;
                case 2: for (int k = 0; k < keys.length; k++) map.put(keys[k], second[k]); break;
                default: for (Long key : keys) map.remove(key);
            }
            sink += found;
        }

        @Override
        public void run() {
            try {
                barrier.await();
            } catch (Exception broken) {
                throw new IllegalStateException(broken);
            }
            start = System.nanoTime();
            for (int cycle = 0; cycle < cycles; cycle++) {
                for (int operation = 0; operation < OPERATIONS.length; operation++) {
                    long w = System.nanoTime();
                    long c = THREADS.getCurrentThreadCpuTime();
                    step(operation);
                    cpu[operation] += THREADS.getCurrentThreadCpuTime() - c;
                    wall[operation] += System.nanoTime() - w;
                }
            }
            end = System.nanoTime();
        }
    }

    private static Long[] randomKeys(int n, long seed) {
        Random random = new Random(seed);
        return random.longs(0, 1L << 62).distinct().limit(n).boxed().toArray(Long[]::new);
    }

    private static double[] best(int passes, int operations, Step step) throws Exception {
        double cpu = Double.MAX_VALUE;
        double wall = Double.MAX_VALUE;
        for (int pass = 0; pass < passes; pass++) {
            long w = System.nanoTime();
            long c = THREADS.getCurrentThreadCpuTime();
            step.run();
            cpu = Math.min(cpu, (THREADS.getCurrentThreadCpuTime() - c) / (double) operations);
            wall = Math.min(wall, (System.nanoTime() - w) / (double) operations);
        }
        return new double[] {cpu, wall};
    }

    private static void row(int keys, int threads, String operation, double cpu, double wall, double overlap) {
        System.out.printf("%d\t%d\t%s\t%.2f\t%.2f\t%.3f%n", keys, threads, operation, cpu, wall, overlap);
    }

    private static void rounds(Long[] all, int threads, int rounds, int cycles) throws Exception {
        int operations = OPERATIONS.length;
        double[][] cpu = new double[operations][rounds];
        double[][] wall = new double[operations][rounds];
        double[] overlap = new double[rounds];
        TrieMap<Long, Long> map = new TrieMap<>();
        for (int round = 0; round < rounds; round++) {
            CyclicBarrier barrier = new CyclicBarrier(threads);
            Share[] shares = new Share[threads];
            for (int t = 0; t < threads; t++) shares[t] = new Share(map, all, t, threads, cycles, barrier);
            for (Share share : shares) share.start();
            for (Share share : shares) share.join();
            long firstEnd = Long.MAX_VALUE, lastEnd = Long.MIN_VALUE;
            long firstStart = Long.MAX_VALUE, lastStart = Long.MIN_VALUE;
            for (Share share : shares) {
                firstEnd = Math.min(firstEnd, share.end);
                lastEnd = Math.max(lastEnd, share.end);
                firstStart = Math.min(firstStart, share.start);
                lastStart = Math.max(lastStart, share.start);
            }
            overlap[round] = Math.max(0, (firstEnd - lastStart) / (double) (lastEnd - firstStart));
            double each = (double) threads * cycles * (all.length / threads);
            for (int o = 0; o < operations; o++) {
                double c = 0, w = 0;
                for (Share share : shares) {
                    c += share.cpu[o];
                    w += share.wall[o];
                }
                cpu[o][round] = c / each;
                wall[o][round] = w / each;
            }
        }
        double[] sorted = overlap.clone();
        java.util.Arrays.sort(sorted);
        for (int o = 0; o < operations; o++) {
            double c = threads == 1 ? Arrays.stream(cpu[o]).min().orElseThrow() : usual(cpu[o], overlap);
            double w = threads == 1 ? Arrays.stream(wall[o]).min().orElseThrow() : usual(wall[o], overlap);
            row(all.length, threads, OPERATIONS[o], c, w, sorted[rounds / 2]);
        }
    }

    /** The median of the rounds in which the threads met, without the first quarter, in which much is compiled. */
    private static double usual(double[] figures, double[] overlap) {
        int first = figures.length / 4;
        int[] later = IntStream.range(first, figures.length).toArray();
        int[] met = Arrays.stream(later).filter(round -> overlap[round] >= MET).toArray();
        double[] sorted = Arrays.stream(met.length > 0 ? met : later).mapToDouble(round -> figures[round]).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static void whole(Long[] all, int snapshots, int passes) throws Exception {
        TrieMap<Long, Long> map = new TrieMap<>();
        for (Long key : all) map.put(key, key);
        double[] iterate = best(passes, all.length, () -> {
            Iterator<?> entries = map.iterator();
            long count = 0;
            while (entries.hasNext()) {
                entries.next();
                count++;
            }
            sink += count;
        });
        row(all.length, 1, "iterate", iterate[0], iterate[1], 1);
        int n = Math.min(snapshots, all.length);
        double[] frozen = best(passes * 4, n, () -> {
            for (int k = 0; k < n; k++) sink += map.readOnlySnapshot() == null ? 1 : 0;
        });
        row(all.length, 1, "snapshot", frozen[0], frozen[1], 1);
        double[] writable = best(passes * 4, n, () -> {
            for (int k = 0; k < n; k++) sink += map.snapshot() == null ? 1 : 0;
        });
        row(all.length, 1, "writable snapshot", writable[0], writable[1], 1);
        double[] both = best(passes * 4, n, () -> {
            for (int k = 0; k < n; k++) {
                sink += map.readOnlySnapshot() == null ? 1 : 0;
                map.put(all[k], all[n - 1 - k]);
            }
        });
        row(all.length, 1, "put after snapshot",
                Math.max(0, both[0] - frozen[0]), Math.max(0, both[1] - frozen[1]), 1);
    }

    public static void main(String[] arguments) throws Exception {
        long seed = Long.parseLong(arguments[0]);
        int snapshots = Integer.parseInt(arguments[1]);
        int passes = Integer.parseInt(arguments[2]);
        for (int a = 3; a < arguments.length; a++) {
            String[] part = arguments[a].split(":");
            Long[] all = randomKeys(Integer.parseInt(part[0]), seed);
            int threads = Integer.parseInt(part[1]);
            rounds(all, threads, Integer.parseInt(part[2]), Integer.parseInt(part[3]));
            if (threads == 1) whole(all, snapshots, passes);
        }
    }
}
