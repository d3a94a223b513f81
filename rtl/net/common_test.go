package net_test

import "github.com/stafflink/lmmc/testbench/ni/moduletest"

type params = moduletest.Params
