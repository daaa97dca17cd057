package bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.AddressFromURIString;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.sharding.typed.ShardingEnvelope;
import org.apache.pekko.cluster.sharding.typed.javadsl.ClusterSharding;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;

/** One node of the cluster: a host of entities, or a client that only sends to them. */
final class Node {
  static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String HOST = "host";

  private final ActorSystem<Void> system;
  private final ClusterSharding sharding;
  final ActorRef<ShardingEnvelope<Entity.Command>> region;

  private Node(String role, Address seed) throws InterruptedException {
    Config config =
        ConfigFactory.parseString("pekko.cluster.roles = [\"" + role + "\"]")
            .withFallback(ConfigFactory.load());
    system = ActorSystem.create(Behaviors.empty(), "bench", config);
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(Join.create(seed == null ? cluster.selfMember().address() : seed));
    long limit = System.nanoTime() + TIMEOUT.toNanos();
    while (cluster.selfMember().status() != MemberStatus.up()) {
      if (System.nanoTime() > limit) {
        throw new IllegalStateException("not up in time");
      }
      Thread.sleep(10);
    }
    sharding = ClusterSharding.get(system);
    region =
        sharding.init(
            org.apache.pekko.cluster.sharding.typed.javadsl.Entity.of(
                    Entity.KEY, context -> Entity.create())
                .withRole(HOST)
                .withStopMessage(Entity.Stop.INSTANCE));
  }

  static Node host() throws InterruptedException {
    return new Node(HOST, null);
  }

  /** A node that hosts nothing, in the cluster of the host at {@code address}, which is {@code ip:port}. */
  static Node client(String address) throws InterruptedException {
    return new Node("client", AddressFromURIString.parse("pekko://bench@" + address));
  }

  /** {@code ip:port}. */
  String address() {
    Address address = Cluster.get(system).selfMember().address();
    return address.host().get() + ":" + address.port().get();
  }

  void tell(String id, Entity.Command command) {
    region.tell(new ShardingEnvelope<>(id, command));
  }

  CompletionStage<Entity.Answer> ask(String id, long number, byte[] payload) {
    return sharding
        .entityRefFor(Entity.KEY, id)
        .ask(replyTo -> new Entity.Ask(number, payload, replyTo), TIMEOUT);
  }

  CompletionStage<Entity.Totals> total(String id, Duration timeout) {
    return sharding.entityRefFor(Entity.KEY, id).ask(Entity.Total::new, timeout);
  }
}
