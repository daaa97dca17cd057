package bench;

/** Lets the compiler see the work before it is measured: for 20 seconds, or as {@code BENCH_WARM_UP_SECONDS} says. */
final class WarmUp {
  interface Work {
    void run() throws InterruptedException;
  }

  private final long nanos;

  WarmUp() {
    String seconds = System.getenv("BENCH_WARM_UP_SECONDS");
    nanos = (seconds == null ? 20 : Long.parseLong(seconds)) * 1_000_000_000L;
  }

  void run(Work work) throws InterruptedException {
    long end = System.nanoTime() + nanos;
    do {
      work.run();
    } while (System.nanoTime() < end);
  }
}
