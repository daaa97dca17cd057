//! The program under test: see `borough_chaos::program`.

fn main() -> std::process::ExitCode {
    borough_chaos::program::main()
}
