// Package bench measures how fast the test kit is.
package bench
