package main

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"spicepacer/config"
	"spicepacer/session/observe"
)

// A flood of one message, such as refused connections, is thinned per second:
// the first ones whole, then one of many.
const (
	logFirst      = 100
	logThereafter = 100
)

// newLogger writes to out. The level has been checked with the configuration.
func newLogger(c config.Log, out io.Writer) *zap.Logger {
	var level zapcore.Level
	if err := level.Set(c.Level); err != nil {
		level = zapcore.InfoLevel
	}
	synced := zapcore.Lock(zapcore.AddSync(out))
	core := observe.NewConsole(synced, level)
	if c.Format == config.FormatJSON {
		core = zapcore.NewCore(zapcore.NewJSONEncoder(jsonEncoding()), synced, level)
	}
	return zap.New(zapcore.NewSamplerWithOptions(core, time.Second, logFirst, logThereafter))
}

func jsonEncoding() zapcore.EncoderConfig {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
		enc.AppendString(t.UTC().Format("2006-01-02T15:04:05.000000Z"))
	}
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	return encoding
}
