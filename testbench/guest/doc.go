// Package guest runs programs of this machine under a kernel that the machine does not have: it boots Linux in QEMU, with
// a file system that holds nothing but the program, the shared libraries it needs and what else it is given, and passes on what
// the program prints and how it ends.
//
// It is meant for tests of what only a kernel can show, such as USB: a package whose TestMain calls Main has its tests run
// in a guest by plain `go test`, and `go test -exec 'lmmc guest'` does the same to any other.
//
// The kernel is one that a distribution ships, with its modules, unchanged. Nothing of the machine can be reached from
// the guest and nothing of it stays: it has no disk and no network, and dies with the process that started it.
package guest
