package bench;

import java.util.Arrays;

/** The 64 bytes that go with a number between processes. */
final class Payload {
  private Payload() {}

  static byte[] of(long number) {
    byte[] payload = new byte[64];
    Arrays.fill(payload, (byte) 0xA5);
    for (int i = 0; i < 8; i++) {
      payload[i] = (byte) (number >>> (8 * i));
    }
    return payload;
  }

  static boolean isWhole(long number, byte[] payload) {
    if (payload.length != 64 || payload[63] != (byte) 0xA5) {
      return false;
    }
    for (int i = 0; i < 8; i++) {
      if (payload[i] != (byte) (number >>> (8 * i))) {
        return false;
      }
    }
    return true;
  }
}
