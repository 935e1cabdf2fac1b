package pacer_test

import "slices"

// Left out is what changes nothing that anybody could see:
//   - a second check of what another one makes certain (the message that covers is
//     the newest, so that nothing it finds is newer than it or still arrives; with
//     KeepArrivalOrder no footprint is looked at; a draw with a mask or a brush for
//     the ground of a text reads its destination anyhow, whatever these are);
//   - which of several messages that must go before another is found first: each
//     of them goes before it in the end;
//   - what only makes a message more careful than it need be, unless it costs an
//     answer its time: a draw that is no longer proved, fewer pieces of a remainder.

// edit replaces old, which occurs once, by new.
type edit struct{ old, new string }

func mutants() []mutant {
	return slices.Concat(
		in("proof.go", proofEdits...), in("proof.go", unprovedEdits()...),
		in("remainder.go", remainderEdits...), in("grid.go", gridEdits...), in("order.go", orderEdits...),
		in("entrylist.go", listEdits...), in("streams.go", streamEdits...), in("sortable.go", sortableEdits...),
		in("order.go", orderPolicyEdits...), in("entrylist.go", listPolicyEdits...), in("fair.go", fairEdits...),
		in("../spiceproto/display_effect.go", effectEdits...),
		in("../spiceproto/display_effect_head.go", effectHeadEdits...),
		in("../spiceproto/display_effect_head.go", opaqueEdits()...),
		in("../spiceproto/display_stream_head.go", streamHeadEdits...),
	)
}

func in(file string, edits ...edit) (all []mutant) {
	for _, e := range edits {
		all = append(all, mutant{file, e.old, e.new})
	}
	return all
}

// unprovedEdits prove what must not be: each message that is no draw.
func unprovedEdits() (all []edit) {
	const kept = "m.Op == spiceproto.MsgDisplayInvalPalette:"
	for _, op := range []string{
		"SetAck", "Migrate", "MigrateData", "WaitForChannels", "Disconnecting", "Notify", "List",
		"DisplayMode", "DisplayMark", "DisplayReset", "DisplayInvalAllPixmaps", "DisplayInvalAllPalettes",
		"DisplayStreamCreate", "DisplayStreamData", "DisplayStreamDataSized", "DisplayStreamClip",
		"DisplayStreamDestroy", "DisplayStreamDestroyAll", "DisplayStreamActivateReport",
		"DisplaySurfaceCreate", "DisplaySurfaceDestroy", "DisplayMonitorsConfig",
		"DisplayGLScanoutUnix", "DisplayGLDraw", "DisplayQualityIndicator",
	} {
		all = append(all, edit{kept, "m.Op == spiceproto.MsgDisplayInvalPalette, m.Op == spiceproto.Msg" + op + ":"})
	}
	return all
}

var proofEdits = []edit{
	{"m.Effect.Doubt == spiceproto.DoubtNone", "m.Effect.Doubt != spiceproto.DoubtUnread"},
	{"return footprint{proved: true, chained: true}", "return footprint{proved: true}"},
	{"\t}\n\treturn footprint{}\n}\n\nfunc drawFootprint", "\t}\n\treturn footprint{proved: true}\n}\n\nfunc drawFootprint"},
	{"e.Surface != 0 || ", ""},
	{" || e.Uses&spiceproto.UsesSurface != 0", ""},
	{"chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesStore != 0"},
	{"chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesCache != 0"},
	{"chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesPaletteStore != 0"},
	{"chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesPaletteCache != 0"},
	{"chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesGLZ != 0"},
	{"e.Overwrites && e.Clip", "e.Clip"},
	{" && e.Clip == spiceproto.ClipNone", ""},
	{"writes: e.Box, ", ""},
	{"reads: e.CopyFrom,", ""},
	{"if e.ReadsDest && f.reads.Empty()", "if false"},
	{"if e.ReadsDest && f.reads.Empty()", "if e.ReadsDest"},
	{"return a.proved && b.proved &&", "return b.proved &&"},
	{"return a.proved && b.proved &&", "return a.proved &&"},
	{"!(a.chained && b.chained) &&", ""},
	{"!a.writes.Intersects(b.writes) &&", ""},
	{"!a.reads.Intersects(b.writes) &&", ""},
	{" &&\n\t\t!a.writes.Intersects(b.reads)", ""},
	{"return x.proved && !x.chained", "return !x.chained"},
	{"x.proved && !x.chained && ", "x.proved && "},
	{" && !x.writes.Empty()", ""},
	{"return n.proved && n.overwrites", "return n.overwrites"},
	{"n.overwrites && ", ""},
	{"droppable(x) && ", ""},
	{" && n.writes.Intersects(x.writes)", ""},
}

var remainderEdits = []edit{
	{"*r = remainder{n: 1}", "*r = remainder{}"},
	{"return r.n == 0 && !r.lost", "return true"},
	{"return r.n == 0 && !r.lost", "return r.n == 0 || r.lost"},
	{"\tif r.lost {\n\t\treturn false\n\t}\n", ""},
	{"r.lost = true", "_ = p"},
	{"if !p.Intersects(box) {", "if false {"},
	{"\t\tr.add(p)\n\t\treturn", "\t\treturn"},
	{"max(p.Top, box.Top)", "p.Top"},
	{"min(p.Bottom, box.Bottom)", "p.Bottom"},
	{"\tr.add(spiceproto.Rect{Top: p.Top, Left: p.Left, Bottom: top, Right: p.Right})\n", ""},
	{"\tr.add(spiceproto.Rect{Top: bottom, Left: p.Left, Bottom: p.Bottom, Right: p.Right})\n", ""},
	{"\tr.add(spiceproto.Rect{Top: top, Left: p.Left, Bottom: bottom, Right: box.Left})\n", ""},
	{"\tr.add(spiceproto.Rect{Top: top, Left: box.Right, Bottom: bottom, Right: p.Right})\n", ""},
}

var gridEdits = []edit{
	{"right: at(box.Right-1, g.columns) + 1", "right: at(box.Right-1, g.columns)"},
	{"bottom: at(box.Bottom-1, g.rows) + 1", "bottom: at(box.Bottom-1, g.rows)"},
	{"max(int(pixel), 0)/g.cell", "int(pixel)/g.cell"},
	{"min(max(int(pixel), 0)/g.cell, cells-1)", "max(int(pixel), 0)/g.cell"},
	{"g.touched(e.f.writes), g.touched(e.f.reads)", "g.touched(e.f.writes), {}"},
	{"g.touched(e.f.writes), g.touched(e.f.reads)", "{}, g.touched(e.f.reads)"},
	{"\tfor _, o := range g.wide {\n\t\tf(o)\n\t}\n", ""},
	{"for o := oldest; o != nil && o.seq <= e.seq; o = o.newer {", "for _, o := range g.wide {"},
	{"e.wide = len(g.cells) == 0 || ", "e.wide = "},
	{"\t\tg.wide = without(g.wide, e)\n", ""},
	{"room && len(*cell)+2 <= maxPerCell", "room"},
	{"len(g.wide) == maxWide || ", ""},
	{" || queued > maxScanned", ""},
	{" || e.spans[0].cells()+e.spans[1].cells() > maxCells", ""},
}

var orderEdits = []edit{
	{"o.fifo = true", "_ = 0"},
	{"\to.streams.note(&m)\n", ""},
	{"\tif e.f.proved && !e.f.reads.Empty() {\n\t\to.pin(e)\n\t}\n", ""},
	{"x.f.writes.Intersects(e.f.reads)", "x.f.writes == e.f.reads"},
	{"x.pinned = x.pinned || x.seq", "x.pinned = x.seq"},
	{"if f.proved && !o.grid.insert(e, o.count) {\n\t\te.f = footprint{}", "if f.proved && !o.grid.insert(e, o.count) {"},
	{"\t\to.barriers.insert(e, barrierLink)\n\t\to.barrier", "\t\to.barrier"},
	{"\t\to.barrier = e.seq\n", ""},
	{"\t\to.chained.insert(e, chainedLink)\n", ""},
	{"\tif !e.queued {\n\t\treturn nil\n\t}\n", ""},
	{"if !o.fifo && !e.f.writes.Empty() {\n\t\te.left", "if !e.f.writes.Empty() {\n\t\te.left"},
	{"\t\te.left.reset(e.f.writes)\n", ""},
	{"x.seq >= e.seq || x.seq < o.barrier", "x.seq < o.barrier"},
	{" || x.seq < o.barrier", ""},
	{" || x.pinned ||", " ||"},
	{" || !x.queued || !covers", " || !covers"},
	{"!covers(&e.f, &x.f)", "!e.f.writes.Contains(x.f.writes)"},
	{"\t\tif !e.f.writes.Contains(x.f.writes) && !x.left.subtract(e.f.writes) {\n\t\t\treturn\n\t\t}\n", ""},
	{"\t\tx.queued = false\n\t\te.place", "\t\te.place"},
	{"\t\to.stats.ReplacedBytes += uint64(x.size)\n\t\to.unlink(x)\n", "\t\to.stats.ReplacedBytes += uint64(x.size)\n"},
	{"\te.queued = false\n\to.unlink(e)\n", "\to.unlink(e)\n"},
	{"if e == nil || o.fifo {", "if e == nil {"},
	{"\t\te = b\n\t}\n\treturn o.oldest", "\t\te = b\n\t}\n\treturn e"},
	{"\tif !e.f.proved {\n\t\treturn olderThan(o.oldest, e)\n\t}\n", ""},
	{"\tif b := olderThan(o.barriers.first, e); b != nil {\n\t\treturn b\n\t}\n", ""},
	{"\tif e.f.chained {\n\t\tfirst = olderThan(o.chained.first, e)\n\t}\n", ""},
	{"if x.seq < e.seq && (first", "if (first"},
	{"!commutes(&x.f, &e.f)", "x.f.writes.Intersects(e.f.writes)"},
	{"\to.ready.remove(e)\n", ""},
	{"\t\to.barriers.remove(e, barrierLink)\n", ""},
	{"\tcase e.f.chained:\n\t\to.chained.remove(e, chainedLink)\n\t}\n\to.grid", "\t}\n\to.grid"},
	{"\t}\n\to.grid.remove(e)\n}", "\t}\n}"},
	{"\to.forget()\n", ""},
	{"\t\t\to.grid.remove(e)\n", ""},
	{"\t\t\te.f = footprint{}\n", ""},
	{"\to.chained = fifo{}\n", ""},
	{"\to.barriers.last = last // those", "\t// those"},
	{"\t\to.barriers.insert(e, barrierLink)\n\t}\n", "\t}\n"},
}

var listEdits = []edit{
	{"l.last = before", "_ = before"},
}

var streamEdits = []edit{
	{"\t\t*s = streams{}\n", ""},
	{"\t\ts.places[id] = m.Stream.Dest\n", ""},
	{"\t\ts.places[id] = spiceproto.Rect{}\n", ""},
	{"s.places[id].Union(m.Stream.Dest)", "m.Stream.Dest"},
	{"s.places[id].Union(m.Stream.Dest)", "s.places[id]"},
	{"\ts.visible |= bit\n", ""},
	{"\tif m.Stream.Hidden {\n\t\ts.visible &^= bit\n\t}\n", ""},
	{"s.mayPaint(f.writes) || ", ""},
	{" || s.mayPaint(f.reads)", ""},
	{"dest := m.Stream.Dest", "dest := spiceproto.Rect{}"},
	{"dest.Empty() && m.Stream.ID < maxStreams", "m.Stream.ID < maxStreams"},
	{"dest.Empty() && m.Stream.ID < maxStreams", "dest.Empty()"},
	{"\tif dest.Empty() {\n\t\treturn footprint{}\n\t}\n", ""},
	{"chained: true, ", ""},
	{"writes: dest, ", ""},
	{", reads: dest", ""},
	{", reads: dest", ", reads: dest, overwrites: true"},
}

var sortableEdits = []edit{
	{"f.overwrites && droppable(&f)", "droppable(&f)"},
	{"f.overwrites && droppable(&f)", "f.overwrites"},
	{"c.cfg.Reorder && ", ""},
}

// Policy: what is good, not what is right.
var orderPolicyEdits = []edit{
	{"\t\te.place = o.fair.turn(e.f.writes)\n", ""},
	{"\t\te.place = min(e.place, x.place)\n", ""},
	{"\t\te.urgent = e.urgent || x.urgent\n", ""},
	{"!e.f.writes.Contains(x.f.writes) && !x.left.subtract(e.f.writes)", "!e.f.writes.Contains(x.f.writes)"},
	{"x.pinned || x.seq < e.seq && x.f.writes", "x.pinned || x.f.writes"},
	{"x.seq >= e.seq {\n\t\treturn nil", "x.seq > e.seq {\n\t\treturn nil"},
	{"\t\t\to.fair.charge(e.size)\n", ""},
	{"\t\to.fair.serve(e.f.writes)\n", "\t\t_ = 0\n"},
}

var listPolicyEdits = []edit{
	{"\tif a.urgent != b.urgent {\n\t\treturn a.urgent\n\t}\n", ""},
	{"\tif a.place != b.place {\n\t\treturn a.place < b.place\n\t}\n", ""},
	{"\t\th.up(i)\n\t\th.down(i)\n", "\t\th.up(i)\n"},
	{"\t\th.up(i)\n\t\th.down(i)\n", "\t\th.down(i)\n"},
}

var fairEdits = []edit{
	{" || f.credit <= 0", ""},
	{"f.spent && f.credit < f.most/2", "f.spent"},
	{"f.credit = max(f.credit-size, -f.most)", "_ = size"},
	{"f.credit+n/urgentPart", "f.credit+n"},
	{"still := *due <= limit", "still := true"},
	{"still := *due <= limit", "still := false"},
	{", limit+uint64(horizon))", ", 1<<62)"},
	{" || (right-left)*(bottom-top) > maxPlaces", ""},
}

var effectEdits = []edit{
	{"\tif !IsDraw(op) {\n\t\treturn Effect{Op: op, Doubt: DoubtNoDraw}\n\t}\n", ""},
	{"min(uint64(len(head)), uint64(size))", "len(head)"},
	{"\tif h.doubt != DoubtUnread {\n\t\treturn Effect{Op: op, Doubt: h.doubt}\n\t}\n", ""},
	{"e.Source.Uses | e.Brush.Uses", "e.Brush.Uses"},
	{"e.Source.Uses | e.Brush.Uses", "e.Source.Uses"},
	{" | e.BackBrush.Uses", ""},
	{" | e.Mask.Uses", ""},
	{"\t\te.Overwrites = false\n", ""},
	{"\t\te.ReadsDest = e.ReadsDest || e.showsItself()\n", ""},
	{"e.ReadsDest || e.showsItself()", "e.showsItself()"},
	{"{&e.Source, ", "{"},
	{"&e.Source, &e.Brush, ", "&e.Source, "},
	{"u.Uses&UsesSurface != 0 && ", ""},
	{" && u.Surface == e.Surface", " && u.Surface == 0"},
}

// opaqueEdits take each kind of draw that depends on what was there for one that
// does not.
func opaqueEdits() (all []edit) {
	for _, kind := range []string{"Blend", "Invers", "ROP3", "Stroke", "Text", "Transparent", "AlphaBlend", "Composite"} {
		at := "\tcase MsgDisplayDraw" + kind + ":\n"
		all = append(all,
			edit{at, at + "\t\te.Overwrites = true\n"},
			edit{at, at + "\t\te.ReadsDest = false\n"})
	}
	for _, kind := range []string{"CopyBits", "DrawBlackness, MsgDisplayDrawWhiteness"} {
		at := "\tcase MsgDisplay" + kind + ":\n"
		all = append(all, edit{at, at + "\t\te.Overwrites = true\n"})
	}
	return all
}

var effectHeadEdits = []edit{
	{"\tif h.doubt == DoubtUnread {\n\t\th.doubt = d\n\t}\n", "\th.doubt = d\n"},
	{"\tif end > h.size {\n\t\th.fail(DoubtMalformed)\n\t}\n", ""},
	{"\th.fail(DoubtHead)\n", ""},
	{"p == 0 || uint64(p) >= h.size", "uint64(p) >= h.size"},
	{"p == 0 || uint64(p) >= h.size", "p == 0"},
	{"uint64(p) >= h.size", "uint64(p) > h.size"},

	// Box and clip.
	{"\tif e.Box.Empty() {\n\t\th.fail(DoubtArea)\n\t}\n", ""},
	{"\t\th.fail(DoubtMalformed)\n\t}\n}\n\n// clip", "\t\te.Clip = ClipNone\n\t}\n}\n\n// clip"},
	{"\t\th.clip(e)\n", ""},
	{"e.ClipCount <= EffectClipRects", "true"},
	{"e.ClipKnown && !e.ClipRects[i].Empty()", "e.ClipKnown"},
	{"rectSize*uint64(e.ClipCount)", "uint64(rectSize*e.ClipCount)"},
	{"\th.off = end\n}\n\n", "\t_ = end\n}\n\n"},

	// What every pixel gets, and whether it depends on what was there.
	{"\te.ReadsDest = true\n", ""},
	{"h.put(e, h.brush(&e.Brush), ropSize)", "h.brush(&e.Brush)\n\t\th.put(e, true, ropSize)"},
	{"h.brush(&e.Brush) && inside", "h.brush(&e.Brush) && (inside || true)"},
	{"h.brush(&e.Brush) && inside", "(h.brush(&e.Brush) || true) && inside"},
	{"h.put(e, h.source(e), ropSize+scaleSize)", "h.source(e)\n\t\th.put(e, true, ropSize+scaleSize)"},
	{"e.ReadsDest = e.Mask.Present", "e.ReadsDest = false"},
	{"complete && Rop(", "Rop("},
	{"Rop(le.Uint16(p)) == RopPut", "Rop(le.Uint16(p))&RopPut != 0"},
	{" && Rop(le.Uint16(p)) == RopPut", ""},
	{" && !e.Mask.Present", ""},
	{"e.ReadsDest = !e.Overwrites", "e.ReadsDest = false"},

	// The source of a COPY_BITS.
	{"right > math.MaxInt32 || bottom", "bottom"},
	{"right > math.MaxInt32 || bottom > math.MaxInt32", "right > math.MaxInt32"},
	{"e.CopyFrom = Rect{", "_ = Rect{"},
	{"x, y := int64(int32(h.u32())), int64(int32(h.u32()))", "y, x := int64(int32(h.u32())), int64(int32(h.u32()))"},
	{"x+e.Box.Width()", "x+e.Box.Height()"},
	{"y+e.Box.Height()", "y+e.Box.Width()"},

	// The source area, and images in every role.
	{"!area.Empty() && ", ""},
	{"area.Left >= 0 && ", ""},
	{"area.Top >= 0 &&", ""},
	{"int64(area.Right) <= int64(e.Source.Image.Width) &&", ""},
	{" &&\n\t\tint64(area.Bottom) <= int64(e.Source.Image.Height)", ""},
	{"\th.image(&e.Source)\n\tif !e.Source.Present {\n\t\th.fail(DoubtImage)\n\t}\n", "\th.image(&e.Source)\n"},
	{"flags, pos\n\th.image(&e.Mask)\n", "flags, pos\n\th.next(4)\n"},
	{"ropSize + scaleSize)\n\t\th.mask(e)\n", "ropSize + scaleSize)\n"},
	{"\tcase MsgDisplayDrawInvers:\n\t\th.mask(e)\n", "\tcase MsgDisplayDrawInvers:\n"},
	{"// rop3\n\t\th.mask(e)\n", "// rop3\n"},
	{"\tp := h.next(size)\n\th.mask(e)\n", "\tp := h.next(size)\n"},
	{"MsgDisplayDrawWhiteness:\n\t\th.mask(e)\n", "MsgDisplayDrawWhiteness:\n"},

	// Brushes.
	{"\t\treturn false\n\tcase BrushSolid", "\t\treturn true\n\tcase BrushSolid"},
	{"\t\th.next(4) // color\n", ""},
	{"\t\tif !u.Present {\n\t\t\th.fail(DoubtMalformed)\n\t\t}\n", ""},
	{"u.Image.Width > 0 && ", ""},
	{" && u.Image.Height > 0", ""},
	{"\th.fail(DoubtMalformed)\n\treturn false\n", "\treturn true\n"},

	// Strokes, text, composites.
	{"\th.pointer() // path\n", "\th.next(4)\n"},
	{"if h.u8()&LineStyled != 0 {", "if h.u8(); false {"},
	{"if h.u8()&LineStyled != 0 {", "if h.u8(); true {"},
	{"\th.brush(&e.Brush)\n\th.next(2 * ropSize) // fore_mode, back_mode\n}\n\nfunc (h *effectHead) text", "}\n\nfunc (h *effectHead) text"},
	{"\th.pointer()      // str\n", "\th.next(4)\n"},
	{"\th.brush(&e.Brush)\n\th.brush(&e.BackBrush)\n", "\th.brush(&e.Brush)\n\th.brush(new(ImageUse))\n"},
	{"\th.brush(&e.Brush)\n\th.brush(&e.BackBrush)\n", "\th.brush(new(ImageUse))\n\th.brush(&e.BackBrush)\n"},
	{"if flags&CompositeHasMask != 0 {", "if false {"},
	{"if flags&CompositeHasSrcTransform != 0 {", "if false {"},
	{"if flags&CompositeHasMaskTransform != 0 {", "if false {"},

	// What an image ties the draw to.
	{"ImageCacheMe|ImageCacheReplaceMe", "ImageCacheReplaceMe"},
	{"ImageCacheMe|ImageCacheReplaceMe", "ImageCacheMe"},
	{"case ImageGLZRGB, ImageZlibGLZRGB:", "case ImageGLZRGB:\n\tcase ImageZlibGLZRGB:"},
	{"case ImageGLZRGB, ImageZlibGLZRGB:", "case ImageZlibGLZRGB:\n\tcase ImageGLZRGB:"},
	{"case ImageFromCache, ImageFromCacheLossless:", "case ImageFromCacheLossless:\n\tcase ImageFromCache:"},
	{"case ImageFromCache, ImageFromCacheLossless:", "case ImageFromCache:\n\tcase ImageFromCacheLossless:"},
	{"\t\tu.Uses |= UsesSurface\n", ""},
	{"\t\tu.Surface = h.u32()\n", ""},
	{"\tdefault:\n\t\th.fail(DoubtImage)\n\t}\n}\n\nfunc (h *effectHead) bitmap", "\t}\n}\n\nfunc (h *effectHead) bitmap"},
	{"\t\th.bitmap(u)\n", ""},
	{"min(u.Image.Width, h.u32())", "min(math.MaxUint32, h.u32())"},
	{"min(u.Image.Width, h.u32()), min(u.Image.Height, h.u32())", "min(u.Image.Width, h.u32()), max(u.Image.Height, h.u32())"},
	{"min(u.Image.Width, h.u32()), min(u.Image.Height, h.u32())", "max(u.Image.Width, h.u32()), min(u.Image.Height, h.u32())"},
	{"\th.next(4) // stride\n\th.palette(u, flags)\n", "\th.next(4) // stride\n\t_ = flags\n"},
	{"\t\th.next(4) // data_size\n\t\th.palette(u, flags)\n", "\t\th.next(4) // data_size\n\t\t_ = flags\n"},
	{"\t\th.next(4) // data_size\n", ""},
	{"flags&BitmapPaletteCacheMe != 0", "false"},
	{"\t\tu.Uses |= UsesPaletteCache\n", ""},
	{"\t\tu.PaletteID = h.u64()\n", ""},
	{"\th.off = back\n", "\t_ = back\n"},
}

var streamHeadEdits = []edit{
	{"id, dest, clip = 4, 34, 50", "id, dest, clip = 0, 34, 50"},
	{"id, dest, clip = 4, 34, 50", "id, dest, clip = 4, 0, 50"},
	{"id, dest, clip = 4, 34, 50", "id, dest, clip = 4, 34, 0"},
	{"\t\tclip = 4\n", "\t\tclip = 0\n"},
	{"ClipType(h.u8()) == ClipRects && h.u32() == 0", "h.u8() == 0 && h.u32() == 0"},
	{" && h.u32() == 0", ""},
	{"h.u32() == 0 && h.doubt == DoubtUnread", "h.u32() == 0"},
	{"dest = 16", "dest = 0"},
	{"return s, h.doubt == DoubtUnread", "return s, true"},
	{"\tdefault:\n\t\treturn StreamHead{}, false\n\t}\n", "\t}\n"},
}
