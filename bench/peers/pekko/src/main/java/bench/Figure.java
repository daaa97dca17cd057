package bench;

import java.util.Locale;

/** What a run found: the one line that every measured program answers with. */
record Figure(double value, String unit, long sum, long expected) {
  static Figure rate(long count, long nanos, long sum, long expected) {
    return new Figure(count * 1e9 / nanos, "per_second", sum, expected);
  }

  static long sumBelow(long count) {
    return count * (count - 1) / 2;
  }

  void print() {
    System.out.printf(
        Locale.ROOT,
        "{\"value\": %f, \"unit\": \"%s\", \"sum\": %d, \"expected\": %d}%n",
        value,
        unit,
        sum,
        expected);
    System.out.flush();
  }
}
