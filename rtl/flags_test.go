package rtl_test

import _ "github.com/stafflink/lmmc/testbench" // its flags -seed and -wave, so that go test ./rtl/... takes them
