package guest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := &frameWriter{w: &b}
	check.Fatal(t, errors.Join(w.write(frameReady), w.write(frameFile, []byte("name\x00"), []byte("content"))))
	if n, err := w.stream(frameStdout).Write([]byte("text")); n != 4 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	whole := b.Bytes()
	r := bytes.NewReader(whole)
	for _, want := range []struct {
		kind    byte
		content string
	}{{frameReady, ""}, {frameFile, "name\x00content"}, {frameStdout, "text"}} {
		if kind, content, err := readFrame(r); kind != want.kind || string(content) != want.content || err != nil {
			t.Errorf("%q %q %v, want %q", kind, content, err, want)
		}
	}
	if _, _, err := readFrame(r); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
	if _, _, err := readFrame(bytes.NewReader(whole[5:12])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated: %v, want io.ErrUnexpectedEOF", err)
	}
	if _, _, err := readFrame(bytes.NewReader([]byte("X\xff\xff\xff\xff"))); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("absurd length: %v", err)
	}
}
