package linkproto

import _ "embed"

// Dissector is the Wireshark dissector in Lua, generated from the tables of this package.
//
//go:embed lmmc.lua
var Dissector string
