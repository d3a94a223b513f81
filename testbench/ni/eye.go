package ni

// Eye is by how much of a bit the edges on a serial link may be off either way, by the clocks that the link takes for a bit, while the clocks
// of its ends differ by EyePPM. It is what phy_serial is held to: TestSerialJitter of rtl/phy.
var Eye = map[int]float64{3: 0.15, 4: 0.15, 5: 0.25, 8: 0.25}

// EyePPM is the difference of clocks at which Eye is measured, in parts per million: ten times what crystals differ by.
const EyePPM = 1000
