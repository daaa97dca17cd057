package bench;

/**
 * Apache Pekko under the sharded workloads of borough-bench: {@code <workload> <count>}, or as one of two processes {@code server} or {@code
 * client <address> <workload> <count>}.
 */
final class Main {
  private Main() {}

  public static void main(String[] args) {
    try {
      System.exit(run(args));
    } catch (Throwable failure) {
      System.err.println(failure);
      System.exit(1);
    }
  }

  private static int run(String[] args) throws Exception {
    if (args.length == 1 && args[0].equals("server")) {
      System.out.println(Node.host().address());
      System.out.flush();
      // Ends with its standard input, so that no server outlives the harness.
      while (System.in.read() >= 0) {
        continue;
      }
      Runtime.getRuntime().halt(0);
    }
    if (args.length == 4 && args[0].equals("client")) {
      Remote remote = new Remote(Node.client(args[1]), new WarmUp());
      return report(remote.run(args[2], Long.parseLong(args[3])));
    }
    if (args.length == 2) {
      Local local = new Local(Node.host(), new WarmUp());
      return report(local.run(args[0], Long.parseLong(args[1])));
    }
    System.err.println("usage: <workload> <count> | server | client <address> <workload> <count>");
    return 2;
  }

  private static int report(Figure figure) {
    if (figure == null) {
      System.err.println("no such workload here");
      return 2;
    }
    figure.print();
    // Taking down a million entities is not measured.
    Runtime.getRuntime().halt(0);
    return 0;
  }
}
