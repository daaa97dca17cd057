package bench;

/** What Jackson writes as CBOR when it leaves the process. */
interface Wire {}
