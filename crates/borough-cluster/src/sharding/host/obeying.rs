//! How a lane does what the region orders: in order, before any message; but for what waits until the way to another node is free.

use std::sync::PoisonError;
use std::time::Duration;

use borough_actor::Actor;
use borough_actor::remote::Message;
use tokio::time::Instant;

use super::alarms::Due;
use super::hall::Hall;
use super::order::{LaneReport, Order};
use super::shard::Shard;
use super::turns::Turns;

/// How long an order is put off before it is looked at again.
const PUT_OFF: Duration = Duration::from_millis(5);

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    pub(super) fn do_orders(&mut self) {
        if !self.shared.has_orders() {
            return;
        }
        let orders = std::mem::take(&mut *self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner));
        for order in orders {
            self.do_order(order);
        }
        self.tidy();
    }

    /// Ends the life that is over, with all that was ordered in it, and says what lives here.
    pub(super) fn do_urgent_orders(&mut self) {
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let last_end = orders.iter().rposition(|order| matches!(order, Order::DropAll));
        let over: Vec<Order> = orders.drain(..last_end.map_or(0, |last| last + 1)).collect();
        let (questions, others) = orders.drain(..).partition::<Vec<_>, _>(Order::is_question);
        *orders = others;
        drop(orders);
        if !over.is_empty() {
            self.end_life();
            self.tidy();
        }
        let over = over.into_iter().filter(Order::is_question);
        for question in over.chain(questions) {
            self.do_order(question);
        }
    }

    fn do_order(&mut self, order: Order) {
        match order {
            Order::Look(sight) => {
                self.floor.sight = sight;
                self.each(Shard::look);
            }
            Order::DropAll => self.end_life(),
            Order::Force => {
                self.floor.forces = true;
                self.each(Shard::force);
            }
            // Whoever asked may be gone.
            Order::Stats(depth, say) => drop(say.send(self.stats(depth))),
            Order::List { shard, after, say } => self.list(shard, after.as_ref(), say),
            order if self.must_wait(&order) => self.put_off(order),
            order => {
                let Some(number) = order.shard() else { return };
                self.supersede(number, &order);
                let Some(shard) = Self::shard(&mut self.shards, self.lanes, &self.floor, number) else {
                    return;
                };
                let floor = &mut self.floor;
                match order {
                    Order::Start { epoch, .. } => shard.start(floor, epoch),
                    Order::Freeze { epoch, to, next, .. } => shard.freeze(floor, epoch, to, next),
                    Order::Transfer { epoch, to, next, .. } => shard.transfer(floor, epoch, to, next),
                    Order::Resume { epoch, .. } => shard.resume(floor, epoch),
                    Order::Run { epoch, .. } => shard.run(floor, epoch),
                    Order::Raise { epoch, next, .. } => shard.raise(floor, epoch, next),
                    Order::Discard { epoch, .. } => shard.discard(floor, epoch),
                    Order::Release { epoch, to, next, .. } => shard.release(floor, epoch, to, next),
                    Order::Drop { epoch, why, .. } => shard.drop_all(floor, epoch, why),
                    Order::Forget { epoch, .. } => shard.stance.forget(epoch),
                    Order::Wake { id, say, .. } => shard.wake(floor, id, say),
                    Order::Look(_)
                    | Order::Force
                    | Order::DropAll
                    | Order::List { .. }
                    | Order::Stats(..) => {}
                }
                shard.look_again(floor);
            }
        }
    }

    /// Whether the way to where the shard moves is full of others; or messages are still on their way to where it went.
    fn must_wait(&self, order: &Order) -> bool {
        match order {
            Order::Freeze { to, .. } | Order::Transfer { to, .. } => self.floor.around.is_busy(*to),
            Order::Forget { .. } => !self.floor.around.is_settled(),
            _ => false,
        }
    }

    /// Until then the shard goes on as before.
    fn put_off(&mut self, order: Order) {
        if let Some(number) = order.shard() {
            self.supersede(number, &order);
        }
        if let Order::Freeze { shard, next, .. } | Order::Transfer { shard, next, .. } = order {
            self.floor.around.report(LaneReport::PutOff { shard, epoch: next });
        }
        self.wait_with(order);
    }

    fn wait_with(&mut self, order: Order) {
        if self.put_off.is_empty() {
            self.floor.alarms.set(Instant::now() + PUT_OFF, Due::Orders);
        }
        self.put_off.push(order);
    }

    /// Looks again at what was put off.
    pub(super) fn do_put_off(&mut self) {
        for order in std::mem::take(&mut self.put_off) {
            if self.must_wait(&order) {
                self.wait_with(order);
            } else {
                self.do_order(order);
            }
        }
    }

    /// What was put off for that shard is over if there is a newer word of where it is to be.
    fn supersede(&mut self, number: u32, by: &Order) {
        let moves = |order: &Order| matches!(order, Order::Freeze { .. } | Order::Transfer { .. });
        let is_newer = match by {
            Order::Start { .. }
            | Order::Run { .. }
            | Order::Resume { .. }
            | Order::Raise { .. }
            | Order::Release { .. }
            | Order::Drop { .. }
            | Order::Freeze { .. }
            | Order::Transfer { .. } => true,
            Order::Discard { .. }
            | Order::Forget { .. }
            | Order::Wake { .. }
            | Order::Look(_)
            | Order::Force
            | Order::DropAll
            | Order::List { .. }
            | Order::Stats(..) => false,
        };
        if is_newer && !self.put_off.is_empty() {
            self.put_off.retain(|order| order.shard() != Some(number) || !moves(order));
        }
    }

    /// This life of the node is over.
    fn end_life(&mut self) {
        self.put_off.clear();
        self.floor.forces = false;
        self.each(Shard::end_life);
    }
}
