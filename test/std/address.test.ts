import { is } from 'uvu/assert'
import { type AddressKind, kindOfAddress } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('addresses', (it) => {
  const CASES: [kind: AddressKind, addresses: string][] = [
    ['public', '8.8.8.8 172.15.255.255 172.32.0.1 192.167.1.1 100.63.255.255 2606:4700::1111 2a00::1'],
    ['loopback', '127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::127.0.0.1 2002:7f00:1::'],
    ['private', '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fd12:3456::1 ::ffff:10.1.2.3 64:ff9b::a00:1'],
    [
      'forbidden',
      '169.254.169.254 169.254.0.1 0.0.0.0 0.1.2.3 100.100.100.200 168.63.129.16 192.0.0.192 224.0.0.1 255.255.255.255 240.0.0.1',
    ],
    ['forbidden', ':: fe80::1 fe80::1%eth0 fec0::1 fd00:ec2::254 fd20:ce::254 ff02::1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe'],
    ['forbidden', '64:ff9b::169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 ::169.254.169.254 ::ffff:0:169.254.169.254'],
    ['public', '::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808:: ::8.8.8.8 0:0:0:0:0:ffff:808:808'],
    [
      'forbidden',
      '::ffff:169.254.169.254%br-lan 0:0:0:0:0:ffff:a9fe:a9fe 0064:FF9B:0::A9FE:A9FE ::ffff:0169.254.169.254 ::ffff:127.1',
    ],
    ['forbidden', 'localhost example.com 1.2.3 1.2.3.4.5 0x7f000001 2130706433'],
  ]
  for (const [kind, addresses] of CASES)
    for (const address of addresses.split(' ')) it(`${address} is ${kind}`, () => is(kindOfAddress(address), kind))
})
