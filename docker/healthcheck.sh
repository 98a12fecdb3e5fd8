#!/bin/bash
# Health of the container: GET /ping answers 200. Needs no program but the shell.
exec 3<> "/dev/tcp/127.0.0.1/${SAGEMAKER_BIND_TO_PORT:-${TTS_PORT:-8080}}" || exit 1
printf 'GET /ping HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
read -r -t 5 line <&3
[[ "$line" == *" 200 "* ]]
