@rem Runs every .sql file of a directory and fails if one of them does: sql-dir.sh in
@rem cmd.
@echo off
setlocal
set dir=%~1
if not defined dir set dir=%~dp0sql
if not exist "%dir%\*.sql" echo there is no .sql file in %dir% >&2 & exit /b 1
call "%~dp0connect.cmd" || exit /b 1
set where=
if defined GOSTRESS_DATABASE set where="-d%database%"
set status=0
for /f "delims=" %%f in ('dir /b /on "%dir%\*.sql"') do (
  "%GOSTRESS%" %connect% %where% -b "-i%dir%\%%f" "-o%out%\%%~nf" || call :failed "%dir%\%%f"
)
call "%~dp0connect.cmd" stop
if %status%==0 echo All files of %dir% ran without an error.
exit /b %status%

:failed
echo FAILED: %~1 >&2
set status=1
exit /b 0
