package figures

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestShareCurve(t *testing.T) {
	curve := check.Must(ShareCurve(t.Context()))(t)
	for i, p := range curve {
		if p.Share > p.Limit {
			t.Errorf("%d bytes: share %.4f is beyond the %.4f that framing allows", p.Bytes, p.Share, p.Limit)
		}
		if i > 0 && p.Share <= curve[i-1].Share {
			t.Errorf("%d bytes: share %.4f, %d bytes: %.4f: the curve does not rise", curve[i-1].Bytes, curve[i-1].Share, p.Bytes, p.Share)
		}
	}
}
