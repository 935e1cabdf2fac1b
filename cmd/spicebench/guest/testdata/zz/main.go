package main
import ("os";"fmt";"context";"time";"spicepacer/cmd/spicebench/guest";"spicepacer/cmd/spicebench/keydraw")
func main(){ if os.Getpid()==1 {keydraw.Main()}; 
if len(os.Args)==3 && os.Args[1]=="shot" { o,_:=guest.Activity(os.Args[2]); m,err:=guest.Start(context.Background(),o,guest.QEMU{SpicePort:5977}); if err!=nil {panic(err)}; time.Sleep(3*time.Second); fmt.Println(m.QMP.Screendump(context.Background(),"/tmp/shot-"+os.Args[2]+".png"), m.Stop()); return }
if err:=guest.Main(os.Args[1:]);err!=nil {fmt.Fprintln(os.Stderr,err);os.Exit(1)}}
