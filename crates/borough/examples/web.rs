//! A web front end of accounts, with axum: `cargo run --example web`, then
//!
//! ```sh
//! curl -X POST localhost:8080/accounts/alice/deposit/100      # 100
//! curl -X POST localhost:8080/accounts/alice/withdraw/30      # 70
//! curl -i -X POST localhost:8080/accounts/alice/withdraw/500  # 409: it has 70
//! curl localhost:8080/accounts/alice                          # 70
//! ```
//!
//! A handler is an ask; what can go wrong is a status that tells the caller whether to try again. An account handles one request at a time, so none overdraws it, from however many front ends.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header::RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use borough::AskError;
use borough::prelude::*;

/// What can be said to an account. A refusal by the account is an answer, not an error of the ask.
#[derive(Serialize, Deserialize)]
enum Account {
    Balance(Reply<u64>),
    Deposit(u64, Reply<u64>),
    Withdraw(u64, Reply<Result<u64, Overdrawn>>),
}

/// It has not that much.
#[derive(Serialize, Deserialize)]
struct Overdrawn {
    balance: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct AccountEntity {
    balance: u64,
}

impl Actor for AccountEntity {
    type Msg = Account;
    async fn receive(&mut self, msg: Account, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Account::Balance(reply) => reply.send(self.balance),
            Account::Deposit(amount, reply) => {
                self.balance = self.balance.saturating_add(amount);
                reply.send(self.balance);
            }
            Account::Withdraw(amount, reply) => match self.balance.checked_sub(amount) {
                Some(rest) => {
                    self.balance = rest;
                    reply.send(Ok(rest));
                }
                None => reply.send(Err(Overdrawn { balance: self.balance })),
            },
        }
        Ok(())
    }
}

type Accounts = State<Region<Account>>;

async fn balance(State(accounts): Accounts, Path(id): Path<String>) -> Result<String, Failure> {
    Ok(accounts.ask(id, Account::Balance).await?.to_string())
}

async fn deposit(
    State(accounts): Accounts,
    Path((id, amount)): Path<(String, u64)>,
) -> Result<String, Failure> {
    Ok(accounts.ask(id, |reply| Account::Deposit(amount, reply)).await?.to_string())
}

async fn withdraw(
    State(accounts): Accounts,
    Path((id, amount)): Path<(String, u64)>,
) -> Result<String, Failure> {
    let rest = accounts.ask(id, |reply| Account::Withdraw(amount, reply)).await?;
    rest.map(|rest| rest.to_string()).map_err(Failure::Refused)
}

/// Why a request has no answer of the account.
enum Failure {
    Refused(Overdrawn),
    Unanswered(AskError),
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::Unanswered(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::Refused(Overdrawn { balance }) => {
                return (StatusCode::CONFLICT, format!("it has {balance}\n")).into_response();
            }
            // An id that is none, for example: it will not be better next time.
            Self::Unanswered(error @ AskError::Unsendable { .. }) => (StatusCode::BAD_REQUEST, error),
            // It may be done: who tries again may do it twice.
            Self::Unanswered(error) if error.may_have_been_handled() => (StatusCode::GATEWAY_TIMEOUT, error),
            // It is not done: to try again is safe, and will help once the shard has an owner again.
            Self::Unanswered(error) => {
                return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "1")], format!("{error}\n"))
                    .into_response();
            }
        };
        (status, format!("{error}\n")).into_response()
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    // The accounts live on this node, or on others: in front of a cluster this would be `shard_proxy`, and nothing else would change.
    let node = Node::builder("bank").listen("127.0.0.1:0").start().await?;
    let accounts = node.shard("accounts", |_id| AccountEntity::default()).migrate_state().start().await?;

    let app = Router::new()
        .route("/accounts/{id}", get(balance))
        .route("/accounts/{id}/deposit/{amount}", post(deposit))
        .route("/accounts/{id}/withdraw/{amount}", post(withdraw))
        .with_state(accounts);
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening at http://{}", listener.local_addr()?);
    // First the requests end, then the node leaves: nobody asks a node that is gone.
    axum::serve(listener, app).with_graceful_shutdown(async { drop(tokio::signal::ctrl_c().await) }).await?;
    node.leave().await?;
    println!("left");
    Ok(())
}
