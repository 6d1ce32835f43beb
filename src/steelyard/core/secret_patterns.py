"""What secrets look like in texts. Compiling this takes time: import it where it is needed."""

from __future__ import annotations

import re

WORD = r"\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<>]+"
# RFC 3986, 3.2.1: userinfo ends at the last @ before the path.
URL_PASSWORD = re.compile(r"(://[^\s/?#@:\"']*):[^\s/?#\"']*@")
URL_TOKEN = re.compile(r"(://)[^\s/?#@:\"']{16,}@")
USER_PASSWORD = re.compile(r"((?:^|\s)(?:-u|--user|--proxy-user)(?:\s+|=))([^\s:\"']+):(\S+)")
OPTION = re.compile(rf"(?<![\w-])(--?[A-Za-z][\w.-]*)(\s+)(?!-)({WORD})")
ASSIGNED = re.compile(rf"(?<![\w$.-])(-{{0,2}}[A-Za-z_][\w.-]*)(\"?\s?[=:]\s?)({WORD})")
HEADER = re.compile(
    r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token|private-token)"
    r"(\s*:\s*)[^\r\n\"']+",
    re.IGNORECASE,
)
BEARER = re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/-]{8,}=*")
# Tokens that say what they are: GitHub, GitLab, Slack, AWS, Google, PyPI, npm, Stripe, JWT, PEM.
TOKENS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|pypi-[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|[sr]k[-_](?:live[-_]|test[-_]|proj-|ant-)?[A-Za-z0-9_-]{20,}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
)
HOOK = re.compile(r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)[\w/-]+")
CODE = re.compile(r"(<script>.*?</script>|<style>.*?</style>)", re.DOTALL)
