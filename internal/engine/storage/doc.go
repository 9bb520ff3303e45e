// Package storage keeps the rows and indexes of the engine's tables and the
// transactions over them. Rows live in memory that holds no Go pointers, so
// that the collector's work does not grow with the data.
package storage
