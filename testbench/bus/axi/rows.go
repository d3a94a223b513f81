package axi

import (
	"encoding/binary"
	"fmt"
)

// address makes the row of an address channel that of a transaction.
func (l *layout) address(c *channel, t *Transaction) {
	c.row[0] = t.Addr
	c.set(id, t.ID)
	c.set(length, uint64(t.Len-1))
	c.set(size, uint64(t.Size))
	c.set(burst, burstWires[t.Burst])
	c.set(lock, truth(t.Lock))
	c.set(cache, t.Cache)
	c.set(prot, t.Prot)
	c.set(qos, t.QoS)
	c.set(region, t.Region)
	c.set(user, t.User)
}

// addressed returns the transaction in the row of an address channel.
func (l *layout) addressed(c *channel, write bool, edge uint64) *Transaction {
	t := &Transaction{Write: write, Addr: c.row[0], ID: c.value(id), Len: int(c.value(length)) + 1, Size: int(c.value(size)),
		Burst: wireBursts[c.value(burst)&3], Lock: c.value(lock) != 0, Cache: c.value(cache), Prot: c.value(prot), QoS: c.value(qos),
		Region: c.value(region), User: c.value(user), Begin: edge}
	if l.lite {
		t.Size, t.Burst = l.size, Incr
		t.Addr &^= 1<<l.size - 1 // strobes say which bytes count
	}
	return t
}

// pack puts bytes into the words of a row, from a lane on; the other lanes are 0.
func pack(words []uint64, p []byte, lane int) {
	if lane%8 == 0 && len(p) >= 8 {
		clear(words[:lane/8])
		i := lane / 8
		for ; len(p) > 0; i++ {
			words[i], p = binary.LittleEndian.Uint64(p), p[8:]
		}
		clear(words[i:])
		return
	}
	clear(words)
	for i, v := range p {
		words[(lane+i)/8] |= uint64(v) << ((lane + i) % 8 * 8)
	}
}

// unpack takes bytes out of the words of a row, from a lane on.
func unpack(p []byte, words []uint64, lane int) {
	if lane%8 == 0 && len(p) >= 8 {
		for i := lane / 8; len(p) > 0; i++ {
			binary.LittleEndian.PutUint64(p, words[i])
			p = p[8:]
		}
		return
	}
	for i := range p {
		p[i] = byte(words[(lane+i)/8] >> ((lane + i) % 8 * 8))
	}
}

// words returns the words of a signal of the row.
func (c *channel) words(i int) []uint64 {
	s := c.signals[i]
	return c.row[s.at : s.at+(s.width+63)/64]
}

// wdata makes the row of channel W the i-th transfer of a write.
func (l *layout) wdata(t *Transaction, i int) {
	c := &l.channels[w]
	c.setUser(wUser, t, i)
	lane := int(t.container(i) % uint64(l.bytes))
	bytes := 1 << t.Size
	pack(c.words(wData), t.Data[i*bytes:(i+1)*bytes], lane)
	if !c.has(wStrb) {
		return
	}
	strb := c.words(wStrb)
	clear(strb)
	if t.Strobe == nil && bytes <= 64 && lane/64 == (lane+bytes-1)/64 {
		below := t.below(i)
		strb[lane/64] = ^uint64(0) >> (64 - bytes) >> below << below << (lane % 64)
		return
	}
	for k := range bytes {
		if t.enabled(i, k) {
			strb[(lane+k)/64] |= 1 << ((lane + k) % 64)
		}
	}
}

// written adds the transfer in the row of channel W to a write as its i-th.
func (l *layout) written(t *Transaction, i int) {
	c := &l.channels[w]
	lane := int(t.container(i) % uint64(l.bytes))
	bytes := 1 << t.Size
	at := len(t.Data)
	t.Data = append(t.Data, make([]byte, bytes)...)
	unpack(t.Data[at:], c.words(wData), lane)
	if c.has(wUser) {
		t.DataUser = append(t.DataUser, c.value(wUser))
	}
	if !c.has(wStrb) {
		return
	}
	for len(t.Strobe) < (at+bytes+7)/8 {
		t.Strobe = append(t.Strobe, 0)
	}
	strb := c.words(wStrb)
	if bytes%8 == 0 && lane%8 == 0 {
		for k := 0; k < bytes; k += 8 {
			t.Strobe[(at+k)/8] = byte(strb[(lane+k)/64] >> ((lane + k) % 64))
		}
		return
	}
	for k := range bytes {
		if strb[(lane+k)/64]>>((lane+k)%64)&1 != 0 {
			t.Strobe[(at+k)/8] |= 1 << ((at + k) % 8)
		}
	}
}

// rdata makes the row of channel R the i-th transfer of a read.
func (l *layout) rdata(t *Transaction, i int) {
	c := &l.channels[r]
	bytes := 1 << t.Size
	pack(c.words(rData), t.Data[i*bytes:(i+1)*bytes], int(t.container(i)%uint64(l.bytes)))
	c.set(rResp, uint64(t.Resp))
	c.set(rID, t.ID)
	c.setUser(rUser, t, i)
}

// read adds the transfer in the row of channel R to a read as its i-th.
func (l *layout) read(t *Transaction, i int) {
	c := &l.channels[r]
	at, bytes := len(t.Data), 1<<t.Size
	t.Data = append(t.Data, make([]byte, bytes)...)
	unpack(t.Data[at:], c.words(rData), int(t.container(i)%uint64(l.bytes)))
	t.Resp = max(t.Resp, Resp(c.value(rResp)))
	if c.has(rUser) {
		t.DataUser = append(t.DataUser, c.value(rUser))
	}
}

// setUser sets WUSER or RUSER of the i-th transfer.
func (c *channel) setUser(k int, t *Transaction, i int) {
	if c.has(k) {
		v := uint64(0)
		if t.DataUser != nil {
			v = t.DataUser[i]
		}
		c.set(k, v)
	}
}

// users refuses USER signals of data or of a response that the channel cannot carry.
func (c *channel) users(k int, t *Transaction, values ...uint64) error {
	width := c.signals[k].width
	for _, v := range values {
		if width < 64 && v>>width != 0 {
			return fmt.Errorf("%w: %s: %#x in %suser of %d bits", ErrWidth, t, v, c.name, width)
		}
	}
	return nil
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
