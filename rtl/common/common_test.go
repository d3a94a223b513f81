// Package common_test drives every module of rtl/common against a model of it in Go.
package common_test

import "github.com/stafflink/lmmc/testbench/ni/moduletest"

type params = moduletest.Params
