#!/bin/bash
# Health of the container: GET /ping answers 200. Needs no program but the shell, and so cannot speak TLS: there
# a port that takes connections is all that is asked.
exec 3<> "/dev/tcp/127.0.0.1/${SAGEMAKER_BIND_TO_PORT:-${TTS_PORT:-8080}}" || exit 1
[[ -z "${TTS_TLS_CERT:-}" ]] || exit 0
printf 'GET /ping HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
read -r -t 5 line <&3
[[ "$line" == *" 200 "* ]]
