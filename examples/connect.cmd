@rem Where the examples run: called by each of them, not run by itself. The
@rem environment variables are those of connect.sh. "call connect.cmd stop" ends
@rem what it began.
@echo off
if "%~1"=="stop" goto stop
if not defined GOSTRESS set GOSTRESS=gostress
set database=gostress_example
if defined GOSTRESS_DATABASE set database=%GOSTRESS_DATABASE%
set out=results
if defined GOSTRESS_OUTPUT set out=%GOSTRESS_OUTPUT%
set work=%TEMP%\gostress-example-%RANDOM%%RANDOM%
set engine=
mkdir "%work%" || exit /b 1
if not exist "%out%" mkdir "%out%" || exit /b 1
if not defined GOSTRESS_SERVER goto start
set connect="-S%GOSTRESS_SERVER%" -E
if not defined GOSTRESS_USER exit /b 0
set connect="-S%GOSTRESS_SERVER%" "-U%GOSTRESS_USER%"
if defined GOSTRESS_PASSWORD set "SQLCMDPASSWORD=%GOSTRESS_PASSWORD%"
exit /b 0

:start
for /f %%p in ('powershell -NoProfile -Command "[Guid]::NewGuid().ToString('N')"') do set SQLCMDPASSWORD=%%p
set GOSTRESS_SERVE_PASSWORD=%SQLCMDPASSWORD%
for /f %%p in ('powershell -NoProfile -Command "(Start-Process -FilePath $env:GOSTRESS -ArgumentList serve,--listen,127.0.0.1:0 -RedirectStandardOutput ($env:work + '\serve.log') -RedirectStandardError ($env:work + '\serve.err') -WindowStyle Hidden -PassThru).Id"') do set engine=%%p
if not defined engine exit /b 1
:wait
findstr /b /c:"listening on " "%work%\serve.log" >nul 2>&1 && goto ready
tasklist /fi "pid eq %engine%" | findstr /c:"%engine%" >nul || goto dead
ping -n 2 127.0.0.1 >nul
goto wait
:ready
for /f "tokens=3" %%a in ('findstr /b /c:"listening on " "%work%\serve.log"') do set address=%%a
for /f "tokens=1,2 delims=:" %%a in ("%address%") do set connect="-S%%a,%%b" -Usa
exit /b 0
:dead
type "%work%\serve.err" >&2
exit /b 1

:stop
if defined engine taskkill /pid %engine% /f >nul 2>&1
rmdir /s /q "%work%"
exit /b 0
