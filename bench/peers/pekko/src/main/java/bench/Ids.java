package bench;

/** Ids of sixteen hexadecimal digits and which of them a number goes to: the same as in the other programs, made beforehand. */
final class Ids {
  final int count;
  private final String[] ids;
  private final boolean shuffled;

  private Ids(int count, long first, boolean shuffled) {
    this.count = count;
    this.shuffled = shuffled;
    this.ids = new String[count];
    for (int place = 0; place < count; place++) {
      ids[place] = String.format("%016x", mix(first + place));
    }
  }

  static Ids shuffled(int count) {
    return new Ids(count, 0, true);
  }

  /** Others than the shuffled ones and than those of another batch; each number has one of its own. */
  static Ids fresh(int count, long batch) {
    return new Ids(count, batch << 40, false);
  }

  String of(long number) {
    return ids[placeOf(number)];
  }

  String nth(int place) {
    return ids[place];
  }

  int placeOf(long number) {
    if (!shuffled) {
      return (int) number;
    }
    long random = mix(~number);
    // The upper half of the unsigned product; the library has it from Java 18 on.
    return (int) (Math.multiplyHigh(random, count) + ((random >> 63) & count));
  }

  private static long mix(long number) {
    long z = number + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
