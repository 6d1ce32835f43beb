<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" encoding="UTF-8" indent="yes"/>
  <xsl:key name="by-category" match="item" use="@category"/>

  <xsl:template match="/catalogue">
    <html>
      <body>
        <h1><xsl:value-of select="count(item)"/> items</h1>
        <xsl:for-each select="item[generate-id() = generate-id(key('by-category', @category)[1])]">
          <xsl:sort select="@category"/>
          <h2><xsl:value-of select="@category"/></h2>
          <p>Sum: <xsl:value-of select="format-number(sum(key('by-category', @category)/price), '0.00')"/></p>
          <ul>
            <xsl:apply-templates select="key('by-category', @category)">
              <xsl:sort select="price" data-type="number" order="descending"/>
              <xsl:sort select="@id"/>
            </xsl:apply-templates>
          </ul>
        </xsl:for-each>
      </body>
    </html>
  </xsl:template>

  <xsl:template match="item">
    <li id="{@id}">
      <b><xsl:value-of select="translate(substring(name, 1, 1), 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"/><xsl:value-of select="substring(name, 2)"/></b>
      <xsl:choose>
        <xsl:when test="price &gt; 500"><i>dear</i></xsl:when>
        <xsl:when test="price &lt; 100"><i>cheap</i></xsl:when>
      </xsl:choose>
      <xsl:value-of select="price"/>
      <xsl:for-each select="like"><a href="#{@id}">like</a></xsl:for-each>
      <xsl:apply-templates select="text"/>
    </li>
  </xsl:template>

  <xsl:template match="text">
    <xsl:call-template name="words">
      <xsl:with-param name="rest" select="normalize-space(.)"/>
    </xsl:call-template>
  </xsl:template>

  <xsl:template name="words">
    <xsl:param name="rest"/>
    <xsl:if test="contains($rest, ' ')">
      <xsl:choose>
        <xsl:when test="string-length(substring-before($rest, ' ')) &gt; 6">
          <em><xsl:value-of select="substring-before($rest, ' ')"/></em>
        </xsl:when>
        <xsl:otherwise><xsl:value-of select="substring-before($rest, ' ')"/></xsl:otherwise>
      </xsl:choose>
      <xsl:text> </xsl:text>
      <xsl:call-template name="words">
        <xsl:with-param name="rest" select="substring-after($rest, ' ')"/>
      </xsl:call-template>
    </xsl:if>
    <xsl:if test="not(contains($rest, ' '))"><xsl:value-of select="$rest"/></xsl:if>
  </xsl:template>
</xsl:stylesheet>
