package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Load reads what $readmemh reads (IEEE 1364-2005, section 17.2.9): hexadecimal words, with @ in front hexadecimal addresses counted in words, comments. A
// word takes wordBytes bytes (1, 2, 4, 8 … 128), the least significant first, the first at address base. Digits x and z are refused. After an
// error the words before it are written.
func (m *Memory) Load(r io.Reader, base uint64, wordBytes int) error {
	if err := checkWord("load", wordBytes); err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("memory: load: %w", err)
	}
	text, err = withoutComments(text)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	word := make([]byte, wordBytes)
	index := uint64(0)
	for line := 1; lines.Scan(); line++ {
		for _, token := range strings.FieldsFunc(lines.Text(), unicode.IsSpace) {
			if at, ok := strings.CutPrefix(token, "@"); ok {
				if index, err = strconv.ParseUint(strings.ReplaceAll(at, "_", ""), 16, 64); err != nil {
					return fmt.Errorf("memory: load: line %d: address %q: want @ and up to 16 hexadecimal digits", line, token)
				}
				continue
			}
			if err := parseWord(word, token); err != nil {
				return fmt.Errorf("memory: load: line %d: %w", line, err)
			}
			address := base + index*uint64(wordBytes)
			if index > (1<<64-1-base)/uint64(wordBytes) {
				return fmt.Errorf("memory: load: line %d: %w: word %#x lies beyond the address space of 64 bits", line, ErrBounds, index)
			}
			if err := m.Write(address, word); err != nil {
				return fmt.Errorf("memory: load: line %d: word %#x: %w", line, index, err)
			}
			index++
		}
	}
	return nil
}

// Dump writes n bytes from an address on as Load reads them with base 0: addresses where a new line of 16 bytes or more begins. Address and n must be
// multiples of wordBytes.
func (m *Memory) Dump(w io.Writer, address uint64, n, wordBytes int) error {
	if err := checkWord("dump", wordBytes); err != nil {
		return err
	}
	if address%uint64(wordBytes) != 0 || n%wordBytes != 0 || n < 0 {
		return fmt.Errorf("memory: dump %d bytes at %#x: want multiples of the word of %d bytes", n, address, wordBytes)
	}
	if err := m.Check(address, n); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	word := make([]byte, wordBytes)
	for at := 0; at < n; at += wordBytes {
		from := address + uint64(at)
		_ = m.Read(from, word) // was checked
		if at%max(16, wordBytes) == 0 {
			fmt.Fprintf(out, "@%x", from/uint64(wordBytes))
		}
		out.WriteByte(' ')
		for i := wordBytes - 1; i >= 0; i-- {
			fmt.Fprintf(out, "%02x", word[i])
		}
		if next := at + wordBytes; next%max(16, wordBytes) == 0 || next == n {
			out.WriteByte('\n')
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("memory: dump: %w", err)
	}
	return nil
}

func checkWord(what string, bytes int) error {
	if bytes < 1 || bytes > 128 || bytes&(bytes-1) != 0 {
		return fmt.Errorf("memory: %s words of %d bytes: want 1, 2, 4 … 128", what, bytes)
	}
	return nil
}

// parseWord puts the digits of a token into word, least significant byte first.
func parseWord(word []byte, token string) error {
	clear(word)
	digits := strings.ReplaceAll(token, "_", "")
	if digits == "" {
		return fmt.Errorf("word %q has no digits", token)
	}
	for i := range len(digits) {
		d, err := strconv.ParseUint(digits[len(digits)-1-i:][:1], 16, 8)
		switch {
		case err != nil && strings.ContainsRune("xXzZ", rune(digits[len(digits)-1-i])):
			return fmt.Errorf("word %q: this memory has two states, no x or z", token)
		case err != nil:
			return fmt.Errorf("word %q: want hexadecimal digits", token)
		case i/2 < len(word):
			word[i/2] |= byte(d) << (i % 2 * 4)
		case d != 0:
			return fmt.Errorf("word %q does not fit %d bytes", token, len(word))
		}
	}
	return nil
}

// withoutComments replaces comments by spaces, and keeps the lines.
func withoutComments(text []byte) ([]byte, error) {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '/' {
			continue
		}
		length := 0
		switch text[i+1] {
		case '/':
			if length = bytes.IndexByte(text[i:], '\n'); length < 0 {
				length = len(text) - i
			}
		case '*':
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return nil, fmt.Errorf("memory: load: line %d: comment without end", 1+bytes.Count(text[:i], []byte("\n")))
			}
			length = end + 4
		}
		for k := range length {
			if text[i+k] != '\n' {
				text[i+k] = ' '
			}
		}
	}
	return text, nil
}
