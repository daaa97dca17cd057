package bench;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/** The workloads between two processes, at the client. Numbers go on from the warm-up, because entities check their order. */
final class Remote {
  private static final int WINDOW = 1_000;
  private static final int WINDOWS = 2;

  private final Node node;
  private final WarmUp warmUp;
  private final Ids ids = Ids.shuffled(1_000);
  private final AtomicLong next = new AtomicLong();

  Remote(Node node, WarmUp warmUp) {
    this.node = node;
    this.warmUp = warmUp;
  }

  /** Null if there is no such workload. */
  Figure run(String workload, long count) throws InterruptedException {
    // Every entity is awake, and its shard's place known.
    Asks.atOnce(this::ask, next.getAndAdd(ids.count * 4L), ids.count * 4L);
    return switch (workload) {
      case "remote_sharded_tell" -> tell(count, true);
      case "remote_sharded_flood" -> tell(count, false);
      case "remote_sharded_ask1" -> oneAtATime(count);
      case "remote_sharded_ask1000" -> atOnce(count);
      default -> null;
    };
  }

  private CompletionStage<Entity.Answer> ask(long number) {
    return node.ask(ids.of(number), number, Payload.of(number));
  }

  private Figure oneAtATime(long count) throws InterruptedException {
    warmUp.run(() -> Asks.oneAtATime(this::ask, next.getAndAdd(1_008), 1_000));
    return Asks.oneAtATime(this::ask, next.getAndAdd(count + 16), count);
  }

  private Figure atOnce(long count) throws InterruptedException {
    warmUp.run(() -> Asks.atOnce(this::ask, next.getAndAdd(20_000), 20_000));
    long first = next.getAndAdd(count);
    long begin = System.nanoTime();
    long sum = Asks.atOnce(this::ask, first, count);
    return Figure.rate(count, System.nanoTime() - begin, sum, Figure.sumBelow(count));
  }

  /** From the first tell until every entity has said what it has. */
  private Figure tell(long count, boolean paced) throws InterruptedException {
    warmUp.run(() -> send(20_000, true));
    Entity.Totals before = totals();
    long begin = System.nanoTime();
    send(count, paced);
    Entity.Totals after = totals();
    long nanos = System.nanoTime() - begin;
    if (after.wrong != 0) {
      throw new IllegalStateException(after.wrong + " items out of order or damaged");
    }
    return Figure.rate(count, nanos, after.count - before.count, count);
  }

  /** Nothing slows a sender down, and what finds no room is dropped: so a paced one waits for an answer every thousand. */
  private void send(long count, boolean paced) {
    ArrayDeque<CompletionStage<Entity.Totals>> windows = new ArrayDeque<>();
    long first = next.getAndAdd(count);
    for (long number = first; number < first + count; number++) {
      node.tell(ids.of(number), new Entity.Tell(number, Payload.of(number)));
      if (paced && (number - first + 1) % WINDOW == 0) {
        windows.add(node.total(ids.of(number), Node.TIMEOUT));
        if (windows.size() == WINDOWS) {
          windows.remove().toCompletableFuture().join();
        }
      }
    }
  }

  /** Of all entities; an ask that is dropped is asked again. */
  private Entity.Totals totals() {
    long count = 0;
    long sum = 0;
    long wrong = 0;
    for (int from = 0; from < ids.count; from += 100) {
      LongFunction<CompletionStage<Entity.Totals>> ask =
          place -> node.total(ids.nth((int) place), Duration.ofSeconds(5));
      @SuppressWarnings("unchecked")
      CompletionStage<Entity.Totals>[] asked = new CompletionStage[100];
      for (int place = 0; place < asked.length; place++) {
        asked[place] = ask.apply(from + place);
      }
      for (int place = 0; place < asked.length; place++) {
        Entity.Totals totals = join(asked[place], ask, from + place);
        count += totals.count;
        sum += totals.sum;
        wrong += totals.wrong;
      }
    }
    return new Entity.Totals(count, sum, wrong);
  }

  private static Entity.Totals join(
      CompletionStage<Entity.Totals> asked, LongFunction<CompletionStage<Entity.Totals>> again, int place) {
    for (int attempt = 0; attempt < 3; attempt++) {
      try {
        return asked.toCompletableFuture().join();
      } catch (CompletionException dropped) {
        asked = again.apply(place);
      }
    }
    return asked.toCompletableFuture().join();
  }
}
