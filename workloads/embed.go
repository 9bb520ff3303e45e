// Package workloads holds the bundled workloads: their scripts, and what each can run.
package workloads
