// Package layout has only tests: of what holds for the repository as a whole, such as which package may import which.
package layout
