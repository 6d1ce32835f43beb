xquery version "3.1";

declare namespace map = "http://www.w3.org/2005/xpath-functions/map";

(: Joins, groups and sorts the items of a catalogue, counts the words of their texts, and adds up all letters. :)
declare function local:median($values as xs:double*) as xs:double {
  let $sorted := sort($values)
  return $sorted[(count($sorted) + 1) idiv 2]
};

let $items := /catalogue/item
let $words := map:merge(
  for $word in $items/text ! tokenize(.)
  group by $key := $word
  return map { $key : count($word) })
return (
  for $item in $items
  group by $category := string($item/@category)
  order by $category
  return
    <category name="{$category}" count="{count($item)}"
              median="{local:median($item/price ! number())}">{
      for $one in $item
      let $like := $items[@id = $one/like/@id][@category = $category]
      where exists($like)
      order by number($one/price) descending, $one/@id
      return <item id="{$one/@id}">{ string-join($like/name, ", ") }</item>
    }</category>,
  for $word in map:keys($words)
  where $words($word) gt 3 and matches($word, "[aeiou]{2}")
  order by $words($word) descending, $word
  return $word || "=" || $words($word),
  sum((//text() | //@*) ! string-to-codepoints(.))
)
