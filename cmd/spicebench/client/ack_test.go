package client

import "testing"

func TestAckWindowFollowsGTK(t *testing.T) {
	tests := []struct {
		name string
		// windows gives, by message number from 1, the window a SET_ACK carries.
		windows  map[int]uint32
		messages int
		want     []int // numbers of the messages after which an ACK is due
	}{
		{"no SET_ACK", nil, 100, nil},
		{"first ACK after 1 + W", map[int]uint32{1: 20}, 62, []int{21, 41, 61}},
		{"window of one", map[int]uint32{1: 1}, 4, []int{2, 3, 4}},
		{"window 0 wants none", map[int]uint32{1: 0}, 50, nil},
		{"SET_ACK in the middle", map[int]uint32{3: 4}, 12, []int{7, 11}},
		{"a new window starts over", map[int]uint32{1: 4, 4: 2}, 9, []int{6, 8}},
		{"a SET_ACK may itself be counted down", map[int]uint32{1: 3, 4: 2}, 6, []int{4, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a ackWindow
			var got []int
			for n := 1; n <= tt.messages; n++ {
				if a.message() {
					got = append(got, n)
				}
				if w, ok := tt.windows[n]; ok {
					a.set(w)
				}
			}
			if len(got) != len(tt.want) || a.acks != uint64(len(tt.want)) {
				t.Fatalf("ACKs after messages %v (%d counted), want %v", got, a.acks, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("ACKs after messages %v, want %v", got, tt.want)
				}
			}
		})
	}
}
