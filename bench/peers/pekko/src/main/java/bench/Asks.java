package bench;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/** Asks, each begun by the thread that completed the one before: no thread waits, no executor is in between. */
final class Asks {
  /**
   * Goes on in the thread that answered. To be named: the stages of Scala's futures take the common pool where none is, and on
   * two cores that is a new thread each time.
   */
  static final Executor DIRECT = Runnable::run;

  private static final int PER_READING = 16;
  private static final int ASKERS = 1000;

  private Asks() {}

  /** The median of the readings, in nanoseconds an ask. */
  static Figure oneAtATime(LongFunction<CompletionStage<Entity.Answer>> ask, long first, long count) {
    int readings = (int) ((count + PER_READING - 1) / PER_READING);
    double[] nanos = new double[readings];
    long[] sum = {0};
    CompletableFuture<Void> done = new CompletableFuture<>();
    new Object() {
      long number = 0;
      long begin = System.nanoTime();

      void next() {
        if (number > 0 && number % PER_READING == 0) {
          long now = System.nanoTime();
          nanos[(int) (number / PER_READING) - 1] = (double) (now - begin) / PER_READING;
          begin = now;
        }
        if (number == (long) readings * PER_READING) {
          done.complete(null);
          return;
        }
        ask.apply(first + number)
            .whenCompleteAsync(
                (answer, failure) -> {
                  if (failure != null || answer.number != first + number) {
                    done.completeExceptionally(
                        failure != null ? failure : new IllegalStateException("the answer to another ask"));
                    return;
                  }
                  sum[0] += answer.number - first;
                  number++;
                  next();
                },
                DIRECT);
      }
    }.next();
    done.join();
    Arrays.sort(nanos);
    return new Figure(nanos[readings / 2], "ns", sum[0], Figure.sumBelow((long) readings * PER_READING));
  }

  /** A thousand under way; the sum of the answers, counted from {@code first}. */
  static long atOnce(LongFunction<CompletionStage<Entity.Answer>> ask, long first, long count) {
    AtomicLong sum = new AtomicLong();
    int askers = (int) Math.min(ASKERS, count);
    CompletableFuture<?>[] all = new CompletableFuture<?>[askers];
    for (int asker = 0; asker < askers; asker++) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      all[asker] = done;
      next(ask, first, asker, count, sum, done);
    }
    CompletableFuture.allOf(all).join();
    return sum.get();
  }

  private static void next(
      LongFunction<CompletionStage<Entity.Answer>> ask,
      long first,
      long number,
      long count,
      AtomicLong sum,
      CompletableFuture<Void> done) {
    if (number >= count) {
      done.complete(null);
      return;
    }
    ask.apply(first + number)
        .whenCompleteAsync(
            (answer, failure) -> {
              if (failure != null || answer.number != first + number) {
                done.completeExceptionally(
                    failure != null
                        ? failure
                        : new CompletionException(new IllegalStateException("the answer to another ask")));
                return;
              }
              sum.addAndGet(number);
              next(ask, first, number + ASKERS, count, sum, done);
            },
            DIRECT);
  }
}
