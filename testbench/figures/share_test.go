package figures

import "testing"

func TestShareCurve(t *testing.T) {
	curve, err := ShareCurve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range curve {
		if p.Share > p.Limit {
			t.Errorf("%d bytes: share %.4f is beyond the %.4f that framing allows", p.Bytes, p.Share, p.Limit)
		}
		if i > 0 && p.Share <= curve[i-1].Share {
			t.Errorf("%d bytes: share %.4f, %d bytes: %.4f: the curve does not rise", curve[i-1].Bytes, curve[i-1].Share, p.Bytes, p.Share)
		}
	}
}
