//! Links between systems in one process, with a network that can be broken at will. No cluster: who is there is said by the tests.

mod delivery;
mod hostile;
mod reading;
mod rig;
mod travel;
