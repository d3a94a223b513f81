module github.com/stafflink/lmmc

go 1.26
