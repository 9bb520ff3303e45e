@rem Memory-optimized against disk-based tables: inmem-compare.sh in cmd.
@echo off
setlocal
if not defined N set N=10
if not defined R set R=50
set /a orders=N*R*20
call "%~dp0connect.cmd" || exit /b 1
set status=0
call :compare || set status=1
call "%~dp0connect.cmd" stop
exit /b %status%

:compare
"%GOSTRESS%" workload install inmem-oltp %connect% "-d%database%" || exit /b 1
call :form inmem || exit /b 1
call :form ondisk || exit /b 1
"%GOSTRESS%" workload uninstall inmem-oltp %connect% "-d%database%" || exit /b 1
"%GOSTRESS%" compare "%out%\inmem.json" "%out%\ondisk.json"
exit /b

:form
"%GOSTRESS%" workload reset inmem-oltp %connect% "-d%database%" || exit /b 1
"%GOSTRESS%" workload show inmem-oltp/%1 >"%work%\%1.sql" || exit /b 1
"%GOSTRESS%" -n%N% -r%R% %connect% "-d%database%" -q "-i%work%\%1.sql" "-o%out%\%1" --json "%out%\%1.json" || exit /b 1
"%GOSTRESS%" workload verify inmem-oltp %connect% "-d%database%" --only %1 --orders %orders%
exit /b
