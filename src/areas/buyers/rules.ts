export const taxIdKinds = [
  'ae.trn',
  'au.abn',
  'ar.dni',
  'ar.cuil',
  'ar.cuit',
  'br.cnpj',
  'br.cpf',
  'ca.bn',
  'ca.gst_hst',
  'ca.pst_bc',
  'ca.pst_mb',
  'ca.pst_sk',
  'ca.qst',
  'ch.vat',
  'cl.tin',
  'co.itin',
  'co.nit',
  'co.cc',
  'co.ce',
  'co.de',
  'co.rc',
  'co.ti',
  'co.passport',
  'es.cif',
  'eu.vat',
  'gb.vat',
  'hk.br',
  'id.nik',
  'id.npwp',
  'in.gst',
  'in.pan',
  'jp.cn',
  'jp.rn',
  'kr.brn',
  'li.uid',
  'mx.curp',
  'mx.rfc',
  'my.frp',
  'my.itn',
  'my.nric',
  'my.sst',
  'no.vat',
  'nz.gst',
  'pe.ruc',
  'ph.tin',
  'ru.inn',
  'ru.kpp',
  'sa.vat',
  'sg.gst',
  'sg.uen',
  'th.id',
  'th.vat',
  'tw.vat',
  'us.ein',
  'za.vat',
  'bo.ci',
  'uy.rut',
  'uy.ci',
] as const

/** A search that matches more is refused: the newest of the matches cannot be told without looking at all of them. */
export const mostMatches = 10_000

const longestKey = 200

/**
 * The one spelling of a text that `search` compares. Upper case, because unlike lower case it does not depend on what follows
 * (ς and σ), and it makes ß and SS one. Cut, because some characters become many and an index entry must stay small.
 */
export function searchKey(text: string): string {
  return Array.from(text.normalize('NFKC').toUpperCase()).slice(0, longestKey).join('')
}
