"""What secrets look like in texts. Compiling this takes time: import it where it is needed."""

from __future__ import annotations

import re

WORD = r"\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<>]+"
# RFC 3986, 3.2.1: userinfo ends at the last @ before the path.
URL_PASSWORD = re.compile(r"(://[^\s/?#@:\"']*):[^\s/?#\"']*@")
# A name of a user has hardly both letters and digits where it is long.
URL_TOKEN = re.compile(
    r"(://)(?:[^\s/?#@:\"']{16,}|(?=[^\s/?#@:\"']*\d)(?=[^\s/?#@:\"']*[A-Za-z])[^\s/?#@:\"']{10,})@"
)
# Signatures and keys that give access to whoever has the URL: Azure, AWS, Google.
URL_QUERY = re.compile(
    r"((?:[?&;]|SharedAccessSignature=(?:[^\s\"']*&)?)"
    r"(?:sig|signature|key|code|x-amz-signature|x-goog-signature)=)[^&\s\"']+",
    re.IGNORECASE,
)
# Oracle's thin driver: user and password before the host.
ORACLE = re.compile(r"(jdbc:oracle:\w+:[^/\s\"']+/)[^@\s\"']+@")
USER_PASSWORD = re.compile(r"((?:^|\s)(?:-u|--user|--proxy-user)(?:\s+|=))([^\s:\"']+):(\S+)")
OPTION = re.compile(rf"(?<![\w-])(--?[A-Za-z][\w.-]*)(\s+)(?!-)({WORD})")
ASSIGNED = re.compile(rf"(?<![\w$.-])(-{{0,2}}[A-Za-z_][\w.-]*)([\"']?\s?[=:]\s?)({WORD})")
HEADER = re.compile(
    r"\b((?:proxy-)?authorization|(?:set-)?cookie|private-token|apikey"
    r"|x-(?:[\w-]*-)?(?:key|token|secret)|[\w-]+-(?:subscription|api|access|auth)-(?:key|token))"
    r"(\s*:\s*)[^\r\n\"']+",
    re.IGNORECASE,
)
# What stands in ~/.netrc.
NETRC = re.compile(r"(\blogin\s+\S+\s+password\s+)\S+")
# JSON within a text in quotation marks, and settings of XML: name, what is between, value.
ESCAPED = re.compile(r"\\\"([\w.-]+)(\\\"\s*:\s*\\\")([^\\\"]+)")
ATTRIBUTES = re.compile(r"""\b(?:key|name)=["']([\w.-]+)(["']\s+value=["'])([^"'\n]+)""")
BEARER = re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/-]{8,}=*")
# Tokens that say what they are: GitHub, GitLab, Slack, AWS, Google, PyPI, npm, Stripe, JWT, PEM.
TOKENS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|pypi-[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|[sr]k[-_](?:live[-_]|test[-_]|proj-|ant-)?[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{20,}|do[por]_v1_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,}"
    r"|shp(?:at|ca|pa|ss)_[A-Za-z0-9]{20,}|dckr_pat_[\w-]{16,}|hv[sbr]\.[\w-]{20,}|tskey-[\w-]{16,}"
    r"|xapp-[\w-]{16,}|gl(?:rt|dt|ptt|ft|soat)-[\w-]{16,}|rubygems_[a-f0-9]{20,}|AGE-SECRET-KEY-1\w+"
    r"|steelyard_[\w-]{40,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
)
HOOK = re.compile(
    r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/"
    r"|webhook\.office\.com/webhookb2/|api\.telegram\.org/bot)[\w/@:-]+"
)
# What browsers that are signed in to a service send.
COOKIES = re.compile(r"(\bsteelyard(?:-\d+)?(?:-begun)?=)[\w-]{40,}")
# Options of single programs, which mean something else to others. The words of a command are
# parted by zero bytes, those of a text by blanks; a pipe or a semicolon begins another command.
_GAP = r"[ \t\0]"
_BETWEEN = rf"(?:{_GAP}[^|;&\n]{{0,500}}?)?{_GAP}"
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\0\"'<>|;&]+)"


def _given(programs: str, options: str, gap: str) -> re.Pattern[str]:
    return re.compile(rf"((?<![\w.-])(?:{programs}){_BETWEEN}(?:{options}){gap})(?![\0]){_VALUE}")


GIVEN = (
    _given(r"mysql\w*|mariadb[\w-]*", "-p", ""),
    _given(r"7z\w*|rar|unrar", "-h?p", ""),
    _given(
        rf"sshpass|mongo\w*|(?:docker|podman|nerdctl|oras|az|crane|buildah|helm registry)"
        rf"(?:{_GAP}+auth)?{_GAP}+login",
        "-p",
        f"{_GAP}*",
    ),
    _given(r"zip|unzip|zipcloak|sqlcmd|bcp|p4", "-P", f"{_GAP}*"),
    _given(r"ldap\w+", "-w", f"{_GAP}*"),
    _given(r"redis-cli", "-a", f"{_GAP}+"),
    _given(r"https?", "-a|--auth", f"(?:{_GAP}+|=)"),
    _given(r"openssl", "-k|-K|-pass|-passin|-passout", f"{_GAP}+"),
    _given(r"curl", "-b|--cookie", f"(?:{_GAP}*|=)"),
    _given(r"smbclient|rpcclient|winexe", rf"-U{_GAP}*[^%\s\0]+%", ""),
    _given(r"\w*freerdp\d?|rdesktop", "/p:|-p", f"{_GAP}*"),
    _given(r"plink|pscp|psftp", "-pw", f"{_GAP}+"),
    _given(r"mosquitto_\w+|ipmitool", "-P", f"{_GAP}*"),
    _given(r"cqlsh|beeline|rabbitmqadmin", "-p", f"{_GAP}+"),
    _given(r"snmp\w+", "-A|-X", f"{_GAP}*"),
    _given(r"lftp", rf"-u{_GAP}*[^,\s\0]+,", ""),
    _given(r"sqlplus\w*|rman|expdp|impdp", r"[\w.]+/", ""),
    _given(r"htpasswd", rf"-\w*b\w*{_GAP}+[^\s\0]+{_GAP}+[^\s\0]+", f"{_GAP}+"),
    _given(r"aws", rf"configure{_GAP}+set{_GAP}+[\w.]*(?:secret|token)\w*", f"{_GAP}+"),
    _given(r"kubectl|oc", r"--from-literal(?:=|[ \0])[^=\s\0]+=", ""),
    _given(r"smbclient", r"//[^\s\0]+", f"{_GAP}+(?!-)"),
    _given(r"vault", "login", f"{_GAP}+(?!-)"),
    _given(r"ssh-keygen", "-N|-P", f"{_GAP}+"),
    _given(r"p?npm|yarn", rf"set{_GAP}+[^\s\0]*(?:auth|token|secret|password)\w*", f"{_GAP}+"),
    _given(r"pdftk", r"(?:input|user|owner)_pw", f"{_GAP}+"),
    _given(r"nmcli", r"password|[\w.-]*psk", f"{_GAP}+"),
    _given(r"iwconfig", "key|enc", f"{_GAP}+"),
    _given(r"k?dig|nsupdate|delv", rf"-y{_GAP}*(?:hmac-[\w-]+:)?[^:\s\0]+:", ""),
    _given(r"swift", "-K", f"{_GAP}+"),
    _given(r"mc", rf"alias{_GAP}+set(?:{_GAP}+[^\s\0]+){{3}}", f"{_GAP}+"),
    _given(r"wpa_passphrase", r"[^\s\0-][^\s\0]*", f"{_GAP}+"),
    re.compile(r"(\bsecret,(?:[^\s\0,]+,)*data=)[^\s\0,\"']+"),
    re.compile(r"(:pserver:[^\s\0:@]+:)[^\s\0@]+(?=@)"),
    _given(r"(?:curl|wget)", r"-u[^:\s\0-][^:\s\0]*:", ""),
)
CODE = re.compile(r"(<script>.*?</script>|<style>.*?</style>)", re.DOTALL)
