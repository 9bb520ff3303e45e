@rem A job for every night that reads the JSON report. cmd reads no JSON: this is
@rem nightly.ps1, called from cmd.
@echo off
powershell -NoProfile -ExecutionPolicy Bypass -File "%~dp0nightly.ps1"
exit /b %errorlevel%
