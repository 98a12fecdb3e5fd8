// The preparation scripts as one archive, which the model cache's build runs: the same code as ./dev setup. Same files, same bytes.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../paths.ts";

export interface PreparationSource { zip: Buffer; sha256: string }

// Whatever setup's scripts read each other: all of them, but not what only tests and the quickstart use.
const sources = (): string[] => readdirSync(join(ROOT, "setup")).filter((name) => /\.(sh|py|txt)$/.test(name) && !/quickstart|test/.test(name))
  .map((name) => `setup/${name}`).concat("infra/assets/prepare-model.sh").sort();

export function preparationSource(): PreparationSource {
  const zip = storedZip(sources().map((name) => ({ name, data: readFileSync(join(ROOT, name)) })));
  return { zip, sha256: createHash("sha256").update(zip).digest("hex") };
}

// CRC-32 of PKWARE APPNOTE 4.4.7; node:zlib has it only in later releases of Node 20.
function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

// A zip archive without compression, dated 1980-01-01, all files executable: PKWARE APPNOTE 4.3.7, 4.3.12 and 4.3.16.
function storedZip(files: { name: string; data: Buffer }[]): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, data } of files) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // version needed
    common.writeUInt16LE(0x21, 8); // date
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE((3 << 8) | 20, 4); // made on Unix, so that the mode counts
    common.copy(entry, 6);
    entry.writeUInt32LE((0o100755 << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), common, Buffer.from(name), data]);
    bodies.push(local);
    entries.push(entry, Buffer.from(name));
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}
