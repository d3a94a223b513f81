// Stands in for the constants of CRC-32C, in the files that are read behind it, where a proof is about what is checked and not about how
// well: a remainder of two bits, which still tells the order of bytes and whether one is missing.
`undef LP_CRC32C_POLY
`define LP_CRC32C_POLY 32'h00000003
`undef LP_CRC32C_RESIDUE
`define LP_CRC32C_RESIDUE 32'h00000000
