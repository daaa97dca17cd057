package bench;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityTypeKey;

/** An entity: two numbers, as everywhere. It handles the stop message and the signal that follows it. */
final class Entity extends AbstractBehavior<Entity.Command> {
  static final EntityTypeKey<Command> KEY = EntityTypeKey.create(Command.class, "entity");

  /** Tells handled in this process, and the sum of their numbers. */
  static final LongAdder HANDLED = new LongAdder();
  static final LongAdder SUM = new LongAdder();

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "t")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Tell.class, name = "t"),
    @JsonSubTypes.Type(value = Ask.class, name = "a"),
    @JsonSubTypes.Type(value = Total.class, name = "s"),
  })
  interface Command extends Wire {}

  /** Told, with a payload where it leaves the process. */
  static final class Tell implements Command {
    @JsonProperty final long number;
    @JsonProperty final byte[] payload;

    @JsonCreator
    Tell(@JsonProperty("number") long number, @JsonProperty("payload") byte[] payload) {
      this.number = number;
      this.payload = payload;
    }
  }

  /** Asked with a number, answered with it. */
  static final class Ask implements Command {
    @JsonProperty final long number;
    @JsonProperty final byte[] payload;
    @JsonProperty final ActorRef<Answer> replyTo;

    @JsonCreator
    Ask(
        @JsonProperty("number") long number,
        @JsonProperty("payload") byte[] payload,
        @JsonProperty("replyTo") ActorRef<Answer> replyTo) {
      this.number = number;
      this.payload = payload;
      this.replyTo = replyTo;
    }
  }

  /** Asked for what it has. */
  static final class Total implements Command {
    @JsonProperty final ActorRef<Totals> replyTo;

    @JsonCreator
    Total(@JsonProperty("replyTo") ActorRef<Totals> replyTo) {
      this.replyTo = replyTo;
    }
  }

  /** How sharding ends it; never leaves the process. */
  static final class Stop implements Command {
    static final Stop INSTANCE = new Stop();

    private Stop() {}
  }

  static final class Answer implements Wire {
    @JsonProperty final long number;

    @JsonCreator
    Answer(@JsonProperty("number") long number) {
      this.number = number;
    }
  }

  static final class Totals implements Wire {
    /** Messages told; their sum; those that came out of their order or damaged. */
    @JsonProperty final long count;
    @JsonProperty final long sum;
    @JsonProperty final long wrong;

    @JsonCreator
    Totals(
        @JsonProperty("count") long count,
        @JsonProperty("sum") long sum,
        @JsonProperty("wrong") long wrong) {
      this.count = count;
      this.sum = sum;
      this.wrong = wrong;
    }
  }

  private long sum;
  // Count and damage in one word, so that the state is sixteen bytes here too: damaged ones in the upper half.
  private long counted;
  private long next;

  private Entity(ActorContext<Command> context) {
    super(context);
  }

  static Behavior<Command> create() {
    return Behaviors.setup(Entity::new);
  }

  @Override
  public Receive<Command> createReceive() {
    return newReceiveBuilder()
        .onMessage(Tell.class, this::onTell)
        .onMessage(Ask.class, this::onAsk)
        .onMessage(Total.class, this::onTotal)
        .onMessage(Stop.class, stop -> Behaviors.stopped())
        .onSignal(PostStop.class, signal -> this)
        .build();
  }

  private Behavior<Command> onTell(Tell tell) {
    sum += tell.number;
    counted++;
    if (tell.payload != null) {
      if (tell.number < next || !Payload.isWhole(tell.number, tell.payload)) {
        counted += 1L << 32;
      }
      next = tell.number + 1;
    }
    HANDLED.increment();
    SUM.add(tell.number);
    return this;
  }

  private Behavior<Command> onAsk(Ask ask) {
    sum += ask.number;
    if (ask.payload != null && !Payload.isWhole(ask.number, ask.payload)) {
      counted += 1L << 32;
    }
    ask.replyTo.tell(new Answer(ask.number));
    return this;
  }

  private Behavior<Command> onTotal(Total total) {
    total.replyTo.tell(new Totals(counted & 0xFFFFFFFFL, sum, counted >>> 32));
    return this;
  }
}
