package bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.LongFunction;

/** The workloads inside one process. Warm-up sends zeros, so that sums stay what they are. */
final class Local {
  private static final int THOUSAND = 1_000;
  private static final int MILLION = 1_000_000;
  private static final int PROBES = 1_000;
  private static final long LIMIT_NANOS = 120_000_000_000L;

  private final Node node;
  private final WarmUp warmUp;

  Local(Node node, WarmUp warmUp) {
    this.node = node;
    this.warmUp = warmUp;
  }

  /** Null if there is no such workload. */
  Figure run(String workload, long count) throws InterruptedException {
    return switch (workload) {
      case "sharded_tell" -> flood(Ids.shuffled(THOUSAND), 1, count);
      case "sharded_tell_1m" -> flood(Ids.shuffled(MILLION), 1, count);
      case "sharded_tell_1m_2" -> flood(Ids.shuffled(MILLION), 2, count);
      case "sharded_ask1" -> oneAtATime(Ids.shuffled(THOUSAND), count);
      case "sharded_ask1_1m" -> oneAtATime(Ids.shuffled(MILLION), count);
      case "sharded_ask1000" -> atOnce(Ids.shuffled(THOUSAND), count);
      case "activation" -> activate(count);
      case "sharded_memory" -> memory(count);
      default -> null;
    };
  }

  private Figure flood(Ids ids, int senders, long count) throws InterruptedException {
    wake(ids);
    warmUp.run(() -> send(ids, senders, 100_000, true));
    long sumBefore = Entity.SUM.sum();
    long begin = System.nanoTime();
    send(ids, senders, count, false);
    long nanos = System.nanoTime() - begin;
    long sum = Entity.SUM.sum() - sumBefore;
    check(ids, count);
    return Figure.rate(count, nanos, sum, Figure.sumBelow(count));
  }

  /** Tells every number below {@code count}, from so many threads, until all are handled. */
  private void send(Ids ids, int senders, long count, boolean zeros) throws InterruptedException {
    long handled = Entity.HANDLED.sum();
    List<Thread> threads = new ArrayList<>();
    for (int sender = 0; sender < senders; sender++) {
      long from = count * sender / senders;
      long to = count * (sender + 1) / senders;
      Thread thread =
          new Thread(
              () -> {
                for (long number = from; number < to; number++) {
                  node.tell(ids.of(number), new Entity.Tell(zeros ? 0 : number, null));
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    awaitHandled(handled + count);
  }

  /** Until so many are handled, and no longer than two minutes: lost ones never are. */
  private static void awaitHandled(long count) throws InterruptedException {
    long limit = System.nanoTime() + LIMIT_NANOS;
    while (Entity.HANDLED.sum() < count && System.nanoTime() < limit) {
      Thread.sleep(1);
    }
  }

  /** Entities have what was sent to them, not only all of it together. */
  private void check(Ids ids, long count) {
    int step = Math.max(1, ids.count / PROBES);
    long[] expected = new long[(ids.count + step - 1) / step];
    for (long number = 0; number < count; number++) {
      int place = ids.placeOf(number);
      if (place % step == 0) {
        expected[place / step] += number;
      }
    }
    for (int probe = 0; probe < expected.length; probe++) {
      long sum = node.total(ids.nth(probe * step), Node.TIMEOUT).toCompletableFuture().join().sum;
      if (sum != expected[probe]) {
        throw new IllegalStateException(
            "the sum of " + ids.nth(probe * step) + " is " + sum + ", not " + expected[probe]);
      }
    }
  }

  private Figure oneAtATime(Ids ids, long count) throws InterruptedException {
    wake(ids);
    LongFunction<CompletionStage<Entity.Answer>> ask = number -> node.ask(ids.of(number), number, null);
    warmUp.run(() -> Asks.oneAtATime(ask, 0, 10_000));
    return Asks.oneAtATime(ask, 0, count);
  }

  private Figure atOnce(Ids ids, long count) throws InterruptedException {
    wake(ids);
    LongFunction<CompletionStage<Entity.Answer>> ask = number -> node.ask(ids.of(number), number, null);
    warmUp.run(() -> Asks.atOnce(ask, 0, 100_000));
    long begin = System.nanoTime();
    long sum = Asks.atOnce(ask, 0, count);
    return Figure.rate(count, System.nanoTime() - begin, sum, Figure.sumBelow(count));
  }

  private Figure activate(long count) throws InterruptedException {
    wake(Ids.shuffled(THOUSAND));
    long[] batch = {2};
    warmUp.run(
        () -> {
          Ids fresh = Ids.fresh(20_000, batch[0]++);
          send(fresh, 1, fresh.count, true);
          // They end again, so that the measured ones do not share the heap with them.
          for (int place = 0; place < fresh.count; place++) {
            node.tell(fresh.nth(place), Entity.Stop.INSTANCE);
          }
        });
    Ids ids = Ids.fresh((int) count, 1);
    long sumBefore = Entity.SUM.sum();
    long begin = System.nanoTime();
    send(ids, 1, count, false);
    long nanos = System.nanoTime() - begin;
    return Figure.rate(count, nanos, Entity.SUM.sum() - sumBefore, Figure.sumBelow(count));
  }

  /** Growth of the heap in use, after collections, for each entity: less than what the process takes of the machine. */
  private Figure memory(long count) throws InterruptedException {
    wake(Ids.shuffled(THOUSAND));
    // The entity keeps its id, so its text is part of what an entity takes; the array around is not.
    long before = heapInUse();
    Ids ids = Ids.fresh((int) count, 1);
    long sum = Asks.atOnce(number -> node.ask(ids.of(number), number, null), 0, count);
    double grown = heapInUse() - before - 4.0 * count;
    ids.of(0);
    return new Figure(grown / count, "bytes", sum, Figure.sumBelow(count));
  }

  private static long heapInUse() throws InterruptedException {
    Runtime runtime = Runtime.getRuntime();
    for (int round = 0; round < 3; round++) {
      System.gc();
      Thread.sleep(200);
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private void wake(Ids ids) {
    Asks.atOnce(
        number ->
            node.ask(ids.nth((int) number), 0, null)
                .thenApplyAsync(answer -> new Entity.Answer(number), Asks.DIRECT),
        0,
        ids.count);
  }
}
