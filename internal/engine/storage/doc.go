// Package storage keeps the rows and indexes of the engine's tables and the
// transactions over them.
//
// # Rows
//
// Rows are packed into slabs of 1 MiB outside the Go heap and found by 32-bit
// row numbers (units of 16 bytes), so the collector's work does not grow with
// the data. Every version of a row is a row of its own, never changed but for
// its header: the stamps that made and ended it, and the links of the hash
// indexes. An update ends one version and inserts another.
//
// # Indexes
//
// A hash index is a flat array of row numbers, taken in chunks as rows come;
// the rows of a bucket link each other. Linking and reading take no latch. An
// ordered index is a B+tree of 16-byte items (the first 12 bytes of the key in
// an order-preserving encoding, and the row number) under a latch; readers
// take items from it in lots, and no latch is held while a caller's function
// runs. Every version is in every index. Uniqueness is checked by linking the
// version first and then looking for others with its key: of two that race,
// the later one finds the earlier.
//
// # Transactions
//
// A stamp is a commit's time, or names the transaction and statement that has
// not stamped the row yet. Commit takes its time under the one global mutex,
// for a few instructions, which makes all its rows visible at once; stamping
// them follows. A statement sees what had a time when its snapshot was taken,
// and of its own transaction what earlier statements wrote. A transaction that
// must be validated is "preparing" between time and outcome, and only those
// who need the outcome wait for it: a durable commit would wait for its log
// block in that state.
//
// # Garbage
//
// Versions that no snapshot reads are taken out of the indexes by those who
// ended them, and reused when every statement that could stand on them is over
// (epochs). There is no goroutine in this package.
package storage
