/** URLs that lead, or try to lead, to where no webhook may go. */

/** At least one of each network that is not the public internet. */
const forbiddenV4 = [
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
]

const forbiddenV6 = [
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::2',
  '100::1',
  '1fff:ffff::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:10::1',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2001:DB8:FFFF::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
]

/** The same address as parsers of URLs take it. */
function notations(address: string): string[] {
  const bytes = address.split('.').map(Number)
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes
  const number = Buffer.from(bytes).readUInt32BE()
  const hex = (value: number) => `0x${value.toString(16)}`
  const octal = (value: number) => `0${value.toString(8)}`
  const [high, low] = [number >>> 16, number & 0xffff].map((half) => half.toString(16))
  const fullWidth = address
    .split('')
    .map((sign) => (/\d/.test(sign) ? String.fromCodePoint(0xff10 + Number(sign)) : String.fromCodePoint(0x3002)))
  return [
    address,
    `${address}.`,
    String(number),
    hex(number),
    octal(number),
    bytes.map(hex).join('.'),
    bytes.map(octal).join('.'),
    `${hex(first)}.${octal(second)}.${third}.${fourth}`,
    `${first}.${(second << 16) | (third << 8) | fourth}`,
    `${first}.${second}.${(third << 8) | fourth}`,
    fullWidth.join(''),
    address
      .split('')
      .map((sign) => `%${sign.charCodeAt(0).toString(16)}`)
      .join(''),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[fe80::5efe:${high}:${low}]`,
  ]
}

const places = [
  ...forbiddenV4.flatMap(notations),
  ...forbiddenV6.map((address) => `[${address}]`),
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.LocalHost.',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
]

const other = [
  'https://user@hooks.example.com/',
  'https://user:password@hooks.example.com/',
  'https://:password@hooks.example.com/',
  'https://hooks.example.com@127.0.0.1/',
  'https://127.0.0.1@hooks.example.com/',
  'https://hooks.example.com%40127.0.0.1/',
  'https://hooks.example.com:0/',
  'https://hooks.example.com:65536/',
  'https://hooks.example.com:-1/',
  'https://hooks.example.com\\@127.0.0.1/',
  'https:\\\\127.0.0.1/',
  'https:/\\127.0.0.1/',
  'https:127.0.0.1/',
  'https:///127.0.0.1/',
  'https://127.0.0.1#@hooks.example.com/',
  'https://127.0.0.1?@hooks.example.com/',
  'https://127.0.0.1:443:80/',
  'https://[::1%25lo]/',
  'https://[fe80::1%25eth0]/',
  'https://[::1',
  'https://::1/',
  'https://127.0.0.1\t/',
  'https://127.0.\n0.1/',
  'ht\ntps://127.0.0.1/',
  ' https://hooks.example.com/',
  'https://hooks.example.com/\u0000',
  'https://hooks.example.com/\u0085',
  'https://hooks.example.com/a b',
  'http://hooks.example.com/',
  'HTTP://hooks.example.com/',
  'ftp://hooks.example.com/',
  'ws://hooks.example.com/',
  'gopher://127.0.0.1:70/_x',
  'file:///etc/passwd',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
  '//127.0.0.1/',
  '/hooks',
  'hooks.example.com',
  'https://',
  '',
]

export const hostileTargets: readonly string[] = [
  ...places.flatMap((place) => [`https://${place}/hooks`, `http://${place}/hooks`]),
  ...places.filter((_place, index) => index % 7 === 0).map((place) => `https://${place}:8443/`),
  ...other,
]
