package verilator

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var (
	comments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	hexWord  = regexp.MustCompile(`^[0-9a-fA-F_]+$`)
)

// LoadHex sets a memory from text in the format of $readmemh: hexadecimal words, "@address" with the address as the Verilog declares it, comments. Words that the
// text leaves out stay as they are. Nothing is changed when the text is wrong.
func (m *Model) LoadHex(name string, text io.Reader) error {
	data, err := io.ReadAll(text)
	if err != nil {
		return fmt.Errorf("verilator: %s: %w", name, err)
	}
	words, err := m.Dump(name, 0, -1)
	if err != nil {
		return err
	}
	p, err := m.lib.port(name)
	if err != nil {
		return err
	}
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) + " " }
	at := 0
	for i, line := range strings.Split(comments.ReplaceAllStringFunc(string(data), blank), "\n") {
		for _, item := range strings.Fields(line) {
			if address, is := strings.CutPrefix(item, "@"); is {
				v, err := strconv.ParseUint(address, 16, 62)
				if at = int(v) - p.First; err != nil || at < 0 || at >= p.Elems {
					return fmt.Errorf("verilator: %s, line %d: address %q: want one from @%x to @%x", name, i+1, item, p.First, p.First+p.Elems-1)
				}
				continue
			}
			if at >= p.Elems {
				return fmt.Errorf("verilator: %s, line %d: more than the %d words of %s", name, i+1, p.Elems, p)
			}
			if err := p.parseHex(words[at*p.each():][:p.each()], item); err != nil {
				return fmt.Errorf("verilator: %s, line %d: %w", name, i+1, err)
			}
			at++
		}
	}
	return m.Load(name, 0, words)
}

// parseHex reads a word.
func (p Port) parseHex(word []uint64, item string) error {
	if !hexWord.MatchString(item) {
		return fmt.Errorf("word %q: want hexadecimal digits (a simulation of two states has no x and z)", item)
	}
	digits := strings.TrimLeft(strings.ReplaceAll(item, "_", ""), "0")
	if len(digits) > 16*len(word) {
		return fmt.Errorf("word %q does not fit %d bits", item, p.Width)
	}
	for i := range word {
		from := max(0, len(digits)-16)
		word[i] = 0
		if digits[from:] != "" {
			word[i], _ = strconv.ParseUint(digits[from:], 16, 64)
		}
		digits = digits[:from]
		if width := p.Width - 64*i; width < 64 && word[i]>>width != 0 {
			return fmt.Errorf("word %q does not fit %d bits", item, p.Width)
		}
	}
	return nil
}

// DumpHex writes n words of a memory from word first on as LoadHex reads them, a word a line; with n < 0 all that follow.
func (m *Model) DumpHex(name string, to io.Writer, first, n int) error {
	words, err := m.Dump(name, first, n)
	if err != nil {
		return err
	}
	p, err := m.lib.port(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	fmt.Fprintf(out, "@%x\n", p.First+first)
	for i := 0; i < len(words); i += p.each() {
		text := ""
		for _, part := range words[i : i+p.each()] {
			text = fmt.Sprintf("%016x", part) + text
		}
		fmt.Fprintln(out, text[len(text)-(p.Width+3)/4:])
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("verilator: %s: %w", name, err)
	}
	return nil
}
