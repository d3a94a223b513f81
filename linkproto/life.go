package linkproto

// Life names one life of one end of a link: no two are equal, but by a chance of 1 in 2^32. A self loop has one life at both ends.
type Life uint32

// LifeOf returns the life of a port in an epoch, of the node that has chosen a nonce (0: none yet).
func LifeOf(nonce uint32, port, epoch uint8) Life {
	return Life(nonce ^ uint32(epoch)<<LifeEpochShift ^ uint32(port)<<LifePortShift)
}

// Where epoch and port stand in a life.
const (
	LifeEpochShift = 24
	LifePortShift  = 20
)

// Epoch returns the epoch of an end that has no nonce, as on a host's cable.
func (l Life) Epoch() uint8 { return uint8(l >> LifeEpochShift) }

// HostLife reports whether it is a life of an end without a nonce, as those of a host's cable are.
func (l Life) HostLife() bool { return l<<(32-LifeEpochShift) == 0 }

// Key is what frames and words are sealed with. It names both ends: to any other they are damaged, and from any other.
type Key uint32

// KeyOf returns the key of what one life sends to another. The halves of the sender's are swapped, so that no field of one stands on a field
// of the other, and each direction has a key of its own.
func KeyOf(to, from Life) Key { return Key(to ^ from<<16 ^ from>>16) }

// Back returns the key of the other direction.
func (k Key) Back() Key { return k<<16 | k>>16 }
